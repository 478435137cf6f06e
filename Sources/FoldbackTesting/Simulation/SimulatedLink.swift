import Foldback
import FoldbackSync
import Synchronization

/// The authority for one process of a replica. After the process ends, every call fails.
final class SimulatedLink<P: Projection>: Authority {
    typealias Event = P.Event
    typealias Verdicts = [IntentID: FoldbackSync.Verdict<P.Event>]

    /// Where answers go that arrive after the timeout.
    struct LateDelivery: Sendable {
        let verdicts: @Sendable (Verdicts) async -> Void
        let changes: @Sendable (Changes<P.Event>) async -> Void
    }

    private let name: String
    private let wire: SimulatedWire<P>
    private let server: SimulatedServer<P>
    private let book: FleetBook<P>
    private let notes: FleetNotes
    private let late: LateDelivery
    /// Nil once the process has ended.
    private let store: Mutex<Store<P>?>

    init(
        _ name: String, of store: Store<P>, _ wire: SimulatedWire<P>, _ server: SimulatedServer<P>,
        _ book: FleetBook<P>, _ notes: FleetNotes, late: LateDelivery
    ) {
        self.name = name
        self.store = Mutex(store)
        self.wire = wire
        self.server = server
        self.book = book
        self.notes = notes
        self.late = late
    }

    func end() { store.withLock { $0 = nil } }

    func submit(_ intents: [Submission<Event>]) async throws(AuthorityFailure) -> Verdicts {
        try check(intents)
        notes.count()
        notes.trace(name, "sends \(intents.map { "\($0.id)" }.joined(separator: ", "))")
        let authority = server.authority
        let answer = try await wire.perform(
            .init(
                carryOut: { () throws(AuthorityFailure) in try await authority.submit(intents) },
                cut: { verdicts, count in
                    let first = Set(intents.prefix(count).map(\.id))
                    return first.count < verdicts.count
                        ? verdicts.filter { first.contains($0.key) } : nil
                },
                putOff: { after in
                    let later = FoldbackSync.Verdict<Event>.later(
                        after: after, reason: "put off on purpose")
                    return .success(
                        Dictionary(uniqueKeysWithValues: intents.map { ($0.id, later) }))
                },
                deliverLate: late.verdicts))
        notes.trace(name, "receives \(Self.text(of: answer, to: intents))")
        return answer
    }

    func changes(after position: Position) async throws(AuthorityFailure) -> Changes<Event> {
        guard store.withLock({ $0 }) != nil else {
            throw .unreachable(reason: "the process has ended")
        }
        notes.count()
        let authority = server.authority
        let changes = try await wire.perform(
            .init(
                carryOut: { () throws(AuthorityFailure) in
                    try await authority.changes(after: position)
                },
                cut: { changes, count in
                    guard count > 0, count < changes.events.count else { return nil }
                    let events = Array(changes.events.prefix(count))
                    return Changes(
                        events: events, through: events[count - 1].position, hasMore: true)
                },
                putOff: { .failure(.unavailable(after: $0, reason: "busy on purpose")) },
                deliverLate: late.changes))
        notes.trace(
            name,
            "fetches \(changes.events.count) events after \(position), through \(changes.through)")
        return changes
    }

    /// Checks that the request may be sent (A1, A5).
    private func check(_ intents: [Submission<Event>]) throws(AuthorityFailure) {
        guard let store = store.withLock({ $0 }) else {
            throw .unreachable(reason: "the process has ended")
        }
        for intent in intents {
            if let violation = book.leaves(intent) { notes.broke("sent otherwise", violation) }
            // An intent that was answered meanwhile has no attempts any more.
            if store.attempt(of: intent.id.number) == nil,
                store.pendingEvent(intent.id.number) != nil
            {
                notes.broke(
                    "sent uncovered",
                    "Intent \(intent.id) is sent before its log has the attempt (A5).")
            }
        }
    }

    private static func text(of verdicts: Verdicts, to intents: [Submission<Event>]) -> String {
        intents.map { intent in
            let verdict =
                switch verdicts[intent.id] {
                case .accepted(let position?, let words):
                    "accepted at \(position)\(words == nil ? "" : " with another event")"
                case .accepted(nil, let words):
                    "accepted\(words == nil ? "" : " with another event")"
                case .rejected: "rejected"
                case .later: "later"
                case nil: "nothing"
                }
            return "\(verdict): \(intent.id)"
        }.joined(separator: ", ")
    }
}
