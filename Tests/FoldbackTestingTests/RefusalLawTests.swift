import Foldback
import FoldbackTesting
import TestSupport
import Testing

/// Born from an app whose task was in one projection and not in the other: each refused other
/// confirmed events, and no law said a word.
@Suite struct RefusalLawTests {
    enum Event: Codable, Hashable, Sendable { case opened(Int), closed(Int) }
    struct Refusal: Error {}

    static let events = Generator<Event>.oneOf(
        .making(Event.opened, .integers(in: 0...3)), .making(Event.closed, .integers(in: 0...3)))

    /// Refuses to close what is not open.
    struct Open: Projection, Codable, Equatable {
        var numbers: Set<Int> = []

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            switch event {
            case .opened(let number): numbers.insert(number)
            case .closed(let number):
                guard numbers.remove(number) != nil else { throw Refusal() }
            }
        }
    }

    /// Counts, and refuses the same events.
    struct Count: Projection, Codable, Equatable {
        var open = Open()
        var count = 0

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            try open.apply(event, context)
            count += 1
        }
    }

    /// Counts, and refuses nothing.
    struct Tolerant: Projection, Codable, Equatable {
        var count = 0

        mutating func apply(_ event: Event, _ context: EventContext) { count += 1 }
    }

    private static let effort = Effort(
        scriptsMax: TestEffort.value(quick: 30, full: 100), durationMax: nil, stepsMax: 12,
        candidatesMax: 1_000, stepMax: .seconds(30))

    private func report<P: Projection, Other: EventFold>(
        _: P.Type, _ other: Other.Type
    ) async -> LawReport where P.Event == Event, Other.Event == Event {
        await checkLaws(
            of: P.self, also: other, events: Self.events, laws: [.p17], effort: Self.effort,
            failures: .forgotten)
    }

    @Test func `P17: projections that refuse the same confirmed events keep the law`() async {
        let report = await report(Open.self, Count.self)
        #expect(report.isClean, "\(report)")
    }

    @Test func `P17: one projection applies what the other refuses`() async throws {
        let found = "\(await report(Open.self, Tolerant.self))"
        #expect(found.contains("P17") && found.contains("refuses it"), "\(found)")
        #expect(found.contains("Open") && found.contains("Tolerant applies it"), "\(found)")
    }

    @Test func `P17 needs another projection, and says so`() async {
        let report = await checkLaws(
            of: Open.self, events: Self.events, laws: [.p17], effort: Self.effort,
            failures: .forgotten)
        #expect(report.held.isEmpty && report.unchecked.map(\.law) == [.p17], "\(report)")
    }

    @Test func `P17 is checked on request alone`() {
        #expect(!Set<Law>.standard.contains(.p17))
        #expect(Set<Law>.all(except: .p13).union([.p13]) == .standard)
    }
}
