import Foldback
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The question behind these tests: does each law find the bugs that it is for?
@Suite struct LawTests {
    struct TooMuch: Error {}

    enum Event: Codable, Hashable, Sendable {
        case added(Int)
        case liked(post: String)
        case cleared
    }

    static let events = Generator<Event>.oneOf(
        .making(Event.added, .integers(in: 0...9)), .making(Event.liked, .strings()),
        .constant(.cleared))

    struct Honest: Projection, Codable, Equatable {
        typealias Event = LawTests.Event
        var sum = 0
        var likes: [String: Int] = [:]

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            switch event {
            case .added(let number):
                guard sum + number < 30 else { throw TooMuch() }
                sum += number
            case .liked(let post): likes[post, default: 0] += 1
            case .cleared: sum = 0
            }
        }
    }

    @Test func `an honest projection keeps every law`() async {
        let report = await checkLaws(
            of: Honest.self, events: Self.events,
            effort: Effort(
                scriptsMax: TestEffort.value(quick: 30, full: 200), durationMax: nil, stepsMax: 24,
                candidatesMax: 3_000, stepMax: .seconds(30)),
            failures: .forgotten)
        print(report)
        #expect(report.isClean)
    }

    @Test(arguments: [0, 1])
    func `projections that share their conflicts keep every law`(place: Int) async {
        let effort = Effort(
            scriptsMax: TestEffort.value(quick: 30, full: 200), durationMax: nil, stepsMax: 24,
            candidatesMax: 3_000, stepMax: .seconds(30))
        let events = Generator<Move>.movesOfOneCell
        let report =
            place == 0
            ? await checkLaws(
                of: Board.self, also: SloppyBoard.self, events: events, effort: effort,
                failures: .forgotten)
            : await checkLaws(
                of: SloppyBoard.self, also: RowBoard.self, events: events,
                laws: .all(except: .f9), effort: effort, failures: .forgotten)
        print(report)
        #expect(report.isClean)
    }

    private static let callCount = Mutex(0)

    private struct Hidden: Projection, Codable, Equatable {
        typealias Event = LawTests.Event
        var sum = 0
        mutating func apply(_ event: Event, _ context: EventContext) throws {
            sum += LawTests.callCount.withLock {
                $0 += 1; return $0
            }
        }
    }

    struct Ordered: Projection, Codable, Equatable {
        typealias Event = LawTests.Event
        var likes: Set<String> = []
        var first: String?
        mutating func apply(_ event: Event, _ context: EventContext) throws {
            guard case .liked(let post) = event else { return }
            likes.insert(post)
            first = likes.first
        }
    }

    struct Trap: Projection, Codable, Equatable {
        typealias Event = LawTests.Event
        var numbers: [Int] = []
        mutating func apply(_ event: Event, _ context: EventContext) throws {
            switch event {
            case .added(let number): numbers.append(number)
            case .cleared: numbers.removeLast()
            case .liked: break
            }
        }
    }

    struct Sloppy: Projection, Codable, Equatable {
        typealias Event = LawTests.Event
        var sum = 0
        mutating func apply(_ event: Event, _ context: EventContext) throws {
            guard case .added(let number) = event else { return }
            sum += number
            if sum > 10 { throw TooMuch() }
        }
    }

    enum Bug: CaseIterable { case hidden, ordered, trap, sloppy }

    @Test(arguments: Bug.allCases) func `each bug is found by its law`(bug: Bug) async throws {
        let effort = Effort(
            scriptsMax: TestEffort.value(quick: 75, full: 600), durationMax: nil, stepsMax: 24,
            candidatesMax: 3_000,
            stepMax: .seconds(30))
        func find<P: Projection>(_ type: P.Type, _ law: Law) async throws where P.Event == Event {
            var stepCounts: [Int] = []
            for seed in 1...3 as ClosedRange<UInt64> {
                let report = await checkLaws(
                    of: type, events: Self.events, effort: effort, seed: seed, failures: .forgotten)
                print(report)
                let finding = try #require(report.findings.first)
                #expect(finding.law == law)
                // Two steps as a rule. Shrinking can end at a local minimum, so there are three tries.
                if finding.stepCount <= 4 { return }
                stepCounts.append(finding.stepCount)
            }
            Issue.record("\(type): the smallest scripts have \(stepCounts) steps")
        }
        switch bug {
        case .hidden: try await find(Hidden.self, .p1)
        case .ordered: try await find(Ordered.self, .p1)
        case .trap: try await find(Trap.self, .p14)
        case .sloppy: try await find(Sloppy.self, .f9)
        }
    }
}
