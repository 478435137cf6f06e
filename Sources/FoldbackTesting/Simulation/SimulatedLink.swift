import Foldback
import FoldbackSync
import Synchronization

/// The authority for one process of a replica. After the process ends, every call fails.
final class SimulatedLink<P: Projection>: Authority {
    typealias Event = P.Event

    /// Where answers go that arrive after the timeout.
    struct LateDelivery: Sendable {
        let verdicts: @Sendable (Verdicts<P.Event>) async -> Void
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
    /// The intents in requests that have not returned.
    private let requests = Mutex<Set<IntentID>>([])
    private let bytesPerRequestMax: Int

    init(
        _ name: String, of store: Store<P>, _ wire: SimulatedWire<P>, _ server: SimulatedServer<P>,
        _ book: FleetBook<P>, _ notes: FleetNotes, bytesPerRequestMax: Int, late: LateDelivery
    ) {
        self.bytesPerRequestMax = bytesPerRequestMax
        self.name = name
        self.store = Mutex(store)
        self.wire = wire
        self.server = server
        self.book = book
        self.notes = notes
        self.late = late
    }

    func end() { store.withLock { $0 = nil } }

    func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try check(intents)
        defer { requests.withLock { $0.subtract(intents.map(\.id)) } }
        notes.count()
        notes.trace(name, "sends \(intents.map { "\($0.id)" }.joined(separator: ", "))")
        let server = server
        let answer = try await wire.perform(
            .init(
                carryOut: { [book, notes] () throws(AuthorityFailure) in
                    if intents.contains(where: { book.isPoison($0.id) }) {
                        notes.fired(.poison)
                        throw .failed(reason: "an intent that the authority fails on")
                    }
                    return try await server.authority.submit(intents, from: server.seen(device))
                },
                cut: { verdicts, count in
                    let first = Set(intents.prefix(count).map(\.id))
                    guard first.count < verdicts.byIntent.count else { return nil }
                    return Verdicts(
                        verdicts.byIntent.filter { first.contains($0.key) },
                        lineage: verdicts.lineage, head: verdicts.head)
                },
                newer: { NewerAnswer<P>().verdicts(of: $0) },
                putOff: { after in
                    let later = Verdict<Event>.later(after: after, reason: "put off on purpose")
                    return .success(
                        Verdicts(Dictionary(uniqueKeysWithValues: intents.map { ($0.id, later) })))
                },
                deliverLate: late.verdicts))
        notes.trace(name, "receives \(Self.text(of: answer, to: intents))")
        return answer
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Event> {
        try await changes(after: device, poll: nil)
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await changes(after: device, poll: waiting)
    }

    private func changes(
        after device: SyncPoint, poll: Duration?
    ) async throws(AuthorityFailure) -> Changes<Event> {
        guard store.withLock({ $0 }) != nil else {
            throw .unreachable(reason: "the process has ended")
        }
        notes.count()
        let server = server
        let changes = try await wire.perform(
            .init(
                isPoll: poll != nil,
                carryOut: { () throws(AuthorityFailure) in
                    let seen = server.seen(device)
                    guard let poll, server.waits else {
                        return try await server.authority.changes(after: seen)
                    }
                    return try await server.authority.changes(after: seen, waiting: poll)
                },
                cut: { changes, count in
                    guard count > 0, count < changes.events.count else { return nil }
                    // A page has whole positions (A2).
                    let next = changes.events[count].position
                    let events = changes.events.prefix(count).prefix { $0.position < next }
                    guard let through = events.last?.position else { return nil }
                    return Changes(
                        events: Array(events), through: through, hasMore: true,
                        lineage: changes.lineage, head: changes.head)
                },
                newer: { NewerAnswer<P>().page(of: $0) },
                putOff: { .failure(.unavailable(after: $0, reason: "busy on purpose")) },
                deliverLate: late.changes))
        if poll != nil, !server.waits, changes.events.isEmpty { notes.fired(.earlyPoll) }
        notes.trace(
            name,
            "fetches \(changes.events.count) events after \(device.through), "
                + "through \(changes.through)")
        return changes
    }

    /// Checks that the request may be sent (A1, A5).
    private func check(_ intents: [Submission<Event>]) throws(AuthorityFailure) {
        guard let store = store.withLock({ $0 }) else {
            throw .unreachable(reason: "the process has ended")
        }
        let bytes = intents.reduce(0) { $0 + $1.recorded.bytes.count }
        if intents.count > 1, bytes > bytesPerRequestMax {
            notes.broke("sent too many bytes", "A request of \(name) has \(bytes) bytes (S2).")
        }
        for intent in intents {
            if !requests.withLock({ $0.insert(intent.id).inserted }) {
                notes.broke(
                    "sent twice at once",
                    "Intent \(intent.id) is in two requests at the same time (S4).")
            }
            if let violation = book.leaves(intent) { notes.broke("sent otherwise", violation) }
            // An intent that was answered meanwhile has no attempts any more.
            if store.attempt(of: intent.id.number) == nil,
                store.pendingIntent(intent.id.number) != nil
            {
                notes.broke(
                    "sent uncovered",
                    "Intent \(intent.id) is sent before its log has the attempt (A5).")
            }
        }
    }

    private static func text(
        of verdicts: Verdicts<Event>, to intents: [Submission<Event>]
    ) -> String {
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
