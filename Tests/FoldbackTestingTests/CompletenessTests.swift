import Foldback
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FoldbackTesting

/// A first user's laws passed after 9 of 200 scripts, without two of the laws, and nothing on the screen said
/// so.
@Suite struct CompletenessTests {
    /// Without a state codec and without declared keys.
    private struct Sum: Projection, Equatable {
        enum Event: Codable, Equatable, Sendable { case added(Int) }
        var sum = 0

        mutating func apply(_ event: Event, _ context: EventContext) {
            guard case .added(let number) = event else { return }
            sum += number
        }
    }

    private static let events = Generator<Sum.Event>.making(
        Sum.Event.added, .integers(in: 0...9))

    private static func effort(_ scriptsMax: Int, _ durationMax: Duration?) -> Effort {
        Effort(
            scriptsMax: scriptsMax, durationMax: durationMax, stepsMax: 4, candidatesMax: 100,
            stepMax: .seconds(30))
    }

    /// Returns the report, and the lines that the run shows meanwhile.
    private func shown(
        _ laws: Set<Law>, _ effort: Effort, _ failures: Failures = .forgotten,
        events: Generator<Sum.Event> = Self.events, file: String = #filePath
    ) async -> (report: LawReport, lines: [String]) {
        let lines = Mutex<[String]>([])
        let report = await Screen.$replacement.withValue({ line in
            lines.withLock { $0.append(line) }
        }) {
            await checkLaws(
                of: Sum.self, events: events, laws: laws, effort: effort, failures: failures,
                file: file)
        }
        return (report, lines.withLock { $0 })
    }

    @Test func `a run whose time is over says how many scripts it checked`() async throws {
        let (report, lines) = await shown([.p2, .p15], Self.effort(200, .zero))
        let line =
            "checked only 0 of 200 scripts and 0 of 50 fleets: the time of the effort, 0.0 seconds, is "
            + "over. Raise its durationMax, or lower its scriptsMax."
        #expect(lines == ["laws of Sum: \(line)"])
        #expect(report.isClean && !report.isComplete && report.shortfalls == [line])
        #expect(report.scripts == .init(asked: 200, checked: 0))
        #expect(report.fleets == .init(asked: 50, checked: 0))
        #expect("\(report)".contains(line))
    }

    @Test func `a law that cannot be checked is named with the reason and what to do`() async {
        let (report, lines) = await shown([.p3, .p9, .p13], Self.effort(2, nil))
        #expect(
            lines == [
                "laws of Sum: not checked: P3 checkpoint plus tail: Sum has no state codec, so its logs "
                    + "have no checkpoints. Make it Codable, give it a stateCodec, or leave P3 out of laws.",
                "laws of Sum: not checked: P13 item ids stay: no item ids were given. Give itemIDs, like "
                    + "ItemIDs(\\.items.keys), or leave P13 out of laws.",
                "laws of Sum: not checked: P9 disjoint keys commute: keys(touchedBy:) returns no keys. "
                    + "Implement it in Sum, or leave P9 out of laws.",
            ])
        #expect(!report.isComplete && Set(report.unchecked.map(\.law)) == [.p3, .p9, .p13])
    }

    @Test func `a run that checks everything is complete and shows nothing`() async {
        let (report, lines) = await shown(
            .all(except: .p3, .p9, .p13, .p19), Self.effort(20, nil))
        #expect(report.isComplete && lines == [])
        #expect(report.scripts == .init(asked: 20, checked: 20))
        #expect(report.fleets == .init(asked: 5, checked: 5))
        #expect(report.counts["scripts on disk"] == 1)
    }

    @Test func `an effort without a number of scripts is complete after any number`() async {
        let (report, lines) = await shown([.p2, .p15], .lasting(.zero))
        #expect(report.isComplete && lines == [])
        #expect(report.scripts == .init(asked: nil, checked: 0))
    }

    @Test func `a run that must be complete fails if it is not`() async throws {
        func require(_ completeness: Completeness) async throws -> LawReport {
            try await requireLaws(
                of: Sum.self, events: Self.events, laws: [.p2], effort: Self.effort(200, .zero),
                completeness: completeness, failures: .forgotten)
        }
        #expect(try await require(.told).scripts.checked == 0)
        let error = await #expect(throws: LawsBroken.self) { _ = try await require(.required) }
        #expect("\(error as Any)".contains("checked only 0 of 200 scripts"))
    }

    @Test func `a generator that discards nearly every value is named`() async {
        let none = Self.events.filter { _ in false }
        var effort = Self.effort(200, nil)
        effort.stepsMax = 24
        let (report, lines) = await shown([.p2, .p15], effort, events: none)
        #expect(report.scripts.checked < 200 && report.fleets.checked < 50)
        #expect(lines.count == 1 && lines[0].contains("the generator of events discarded"))
    }

    @Test func `scripts that are discarded are replaced`() async {
        let few = Self.events.filter { $0 == .added(7) }
        let (report, lines) = await shown([.p2], Self.effort(50, nil), events: few)
        #expect(report.isComplete && lines == [])
        #expect(report.scripts.checked == 50)
    }

    @Test func `kept failures that cannot be read are named`() async throws {
        let directory = TemporaryDirectory()
        try Data().write(to: directory.url.appending(path: Sum.name))
        let (report, lines) = await shown(
            [.p2], Self.effort(2, nil), .folder(directory.url))
        #expect(!report.isComplete)
        #expect(lines.count == 1 && lines[0].contains("kept failures did not run"))
        let (_, others) = await shown(
            [.p2], Self.effort(2, nil), .besideTests, file: "/absent/tests/Test.swift")
        #expect(others.count == 1 && others[0].contains("no folder /absent/tests"))
    }

    /// Its events can be written only in another test.
    private struct Unwritable: Projection, Codable, Equatable {
        struct Codec: EventCodec {
            let format = EventFormat(codec: 202, version: 1)
            func encode(_ number: Int) throws -> [UInt8] { throw CocoaError(.coderInvalidValue) }
            func decode(_ bytes: RawSpan, format: EventFormat) throws -> Int { 0 }
        }

        static var codec: any EventCodec<Int> { Codec() }
        var sum = 0
        mutating func apply(_ number: Int, _ context: EventContext) { sum += number }
    }

    @Test func `P1 and P14 are named if no other process checks the scripts`() async {
        let report = await checkLaws(
            of: Unwritable.self, events: .integers(in: 0...9), laws: [.p1, .p14],
            effort: Self.effort(5, nil), seed: 1, failures: .forgotten)
        #expect(report.unchecked.map(\.law) == [.p14, .p1])
        #expect(report.shortfalls.allSatisfy { $0.contains("the codec cannot write the events") })
        let alone = await checkLaws(
            of: Unwritable.self, events: .integers(in: 0...9), laws: [.p1],
            effort: Self.effort(5, nil), seed: 1, failures: .forgotten)
        #expect(alone.unchecked.map(\.law) == [.p1])
    }

    @Test func `a recorded fleet that cannot be drawn any more fails`() async throws {
        let all = Generator<Move>.constant(.set("a", 1))
        let fleet = RecordedFleet(
            replicas: 2, stepsMax: 40,
            choices: await Simulation(of: Board.self, events: all, replicas: 2, stepsMax: 40)
                .run(seed: 1).choices)
        try await requireFleet(fleet, of: Board.self, events: all)
        await #expect(throws: LawsBroken.self) {
            try await requireFleet(fleet, of: Board.self, events: all.filter { _ in false })
        }
    }

    private struct NoItems: Projection, Codable, Equatable {
        typealias Event = Sum.Event
        var items: [Int] = []
        mutating func apply(_ event: Sum.Event, _ context: EventContext) {}
    }

    @Test func `P13 is named if no state has an item`() async {
        let report = await checkLaws(
            of: NoItems.self, events: Self.events, itemIDs: ItemIDs(\.items), laws: [.p13],
            effort: Self.effort(5, nil), failures: .forgotten)
        #expect(report.unchecked.map(\.law) == [.p13] && report.held == [])
        #expect(report.unchecked.allSatisfy { $0.reason == "no state has an item" })
    }

    // MARK: Several processes

    /// Throws after it has changed the state.
    private struct Sloppy: Projection, Codable, Equatable {
        typealias Event = Sum.Event
        var sum = 0

        mutating func apply(_ event: Sum.Event, _ context: EventContext) throws {
            guard case .added(let number) = event else { return }
            sum += number
            if sum > 12 { throw CancellationError() }
        }
    }

    @Test func `a seed has the same findings, however many processes check its scripts`() async {
        func findings(_ placeCount: Int) async -> [String] {
            let places = WorkPlaces(placeCount)
            return await places.holding {
                var run = LawRun<Sloppy>(
                    events: Self.events, checker: LawChecker(itemIDs: nil, stepMax: .seconds(30)),
                    laws: [.p2, .p12, .f9], effort: Self.effort(40, nil), seed: 3,
                    corpus: FailureCorpus(.forgotten, besides: #filePath, "Sloppy"), places: places)
                await run.run()
                #expect(run.report.scripts.checked == 40)
                return run.report.findings.map { "\($0.scriptsTried) \($0)" }
            }
        }
        let alone = await findings(1)
        #expect(alone.count == 1)
        #expect(await findings(3) == alone)
    }

    // MARK: Work places

    @Test func `a place is borrowed only while nobody waits`() async {
        let places = WorkPlaces(2)
        await places.holding {
            #expect(places.borrow())
            #expect(!places.borrow())
            async let other: Void = places.holding { #expect(!places.borrow()) }
            while places.waitingCount == 0 { await Task.yield() }
            places.giveBack()
            await other
            #expect(places.borrow())
            places.giveBack()
        }
        #expect(places.borrow() && places.borrow() && !places.borrow())
    }
}
