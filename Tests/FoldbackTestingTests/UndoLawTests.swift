import Foldback
import FoldbackTesting
import TestSupport
import Testing

/// Question: does law P18 find an inverse that does not lead back?
@Suite struct UndoLawTests {
    enum Event: Codable, Sendable { case named(String), cleared }

    struct Name: Projection, Codable, Equatable, Undoable {
        var name = ""

        mutating func apply(_ event: Event, _ context: EventContext) {
            switch event {
            case .named(let name): self.name = name
            case .cleared: name = ""
            }
        }

        func inverse(of event: Event, _ context: EventContext) -> Event? { .named(name) }
    }

    /// Forgets what was there.
    struct Forgetful: Projection, Codable, Equatable, Undoable {
        var name = ""

        mutating func apply(_ event: Event, _ context: EventContext) {
            switch event {
            case .named(let name): self.name = name
            case .cleared: name = ""
            }
        }

        func inverse(of event: Event, _ context: EventContext) -> Event? { .cleared }
    }

    private static let events: Generator<Event> = .oneOf(
        .making(Event.named, .element(of: ["ann", "bob"])), .constant(.cleared))

    private func report<P: Projection>(_: P.Type) async -> LawReport where P.Event == Event {
        await checkLaws(
            of: P.self, events: Self.events, laws: [.p18],
            effort: Effort(
                scriptsMax: TestEffort.value(quick: 30, full: 100), durationMax: nil, stepsMax: 12,
                candidatesMax: 1_000, stepMax: .seconds(30)), failures: .forgotten)
    }

    @Test func `P18: an inverse that leads back keeps the law`() async {
        let report = await report(Name.self)
        #expect(report.isClean, "\(report)")
    }

    @Test func `P18: an inverse that forgets what was there breaks it`() async {
        let found = "\(await report(Forgetful.self))"
        #expect(found.contains("P18") && found.contains("The view is not the view before"))
    }
}
