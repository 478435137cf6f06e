import Foldback
import FoldbackExamples

/// What the authority has decided: a fold of its decisions, from the first on.
///
/// The authority's log has no intents. Each decision is a confirmed event, and its position in the
/// log is also the position of its effect for the devices.
struct Ledger: Projection {
    /// A decision on an intent.
    struct Decision: Codable, Hashable, Sendable {
        let replica: String
        let number: UInt64
        /// The event as the device sent it.
        let sent: FeedEvent
        let ruling: Outcome
    }

    enum Outcome: Codable, Hashable, Sendable {
        /// With the event that the authority applied.
        case accepted(FeedEvent)
        case rejected(code: String?, message: String)
    }

    enum Event: Codable, Hashable, Sendable {
        case founded(lineage: String)
        case decided(Decision)
    }

    private(set) var lineage: Lineage?
    private(set) var feed = Feed()
    /// The accepted events, ascending by position.
    private(set) var confirmed: [ConfirmedEvent<FeedEvent>] = []
    private var decided: [IntentID: (sent: FeedEvent, verdict: Verdict)] = [:]

    /// The number of intents with a verdict.
    var decidedCount: Int { decided.count }

    enum Verdict: Sendable {
        /// `replacement` is the authority's event if it differs from the intent's event.
        case accepted(Position, replacement: FeedEvent?)
        case rejected(Rejection)
    }

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .founded(let name): lineage = Lineage(name)
        case .decided(let decision):
            guard case .position(let position) = context.origin, let id = decision.id else {
                throw LedgerError.notADecision
            }
            guard decided[id] == nil else { throw LedgerError.decidedTwice(id) }
            switch decision.ruling {
            case .accepted(let event):
                try feed.apply(event, EventContext(.intent(id)))
                confirmed.append(ConfirmedEvent(position: position, event: event, origin: id))
                let replacement = event == decision.sent ? nil : event
                decided[id] = (decision.sent, .accepted(position, replacement: replacement))
            case .rejected(let code, let message):
                decided[id] = (
                    decision.sent, .rejected(Rejection(code: code, message: message))
                )
            }
        }
    }

    /// Returns the verdict on an intent; nil if it has none. An id that comes again with another
    /// event is refused (A1).
    func verdict(on id: IntentID, _ event: FeedEvent) -> Verdict? {
        guard let known = decided[id] else { return nil }
        guard known.sent == event else {
            return .rejected(
                Rejection(code: "id-reused", message: "\(id) arrived before with another event"))
        }
        return known.verdict
    }

    /// Returns the author of a post; nil if the post does not exist.
    func author(of post: String) -> String? {
        feed.posts[post].flatMap { $0.isDeleted ? nil : $0.by }
    }

    /// Returns whether an intent has a verdict.
    func hasDecided(_ id: IntentID) -> Bool { decided[id] != nil }

    /// Returns the first events after a position that a user may see.
    func events(
        for reader: String, after start: Position, limit: Int
    ) -> [ConfirmedEvent<FeedEvent>] {
        let later = confirmed[firstIndex(after: start)...]
        let visible = later.lazy.filter { confirmed in
            confirmed.event.map { $0.by == reader || !$0.did.isPrivate } ?? false
        }
        return Array(visible.prefix(limit))
    }

    func hasEvents(for reader: String, after start: Position) -> Bool {
        !events(for: reader, after: start, limit: 1).isEmpty
    }

    private func firstIndex(after position: Position) -> Int {
        var (low, high) = (0, confirmed.count)
        while low < high {
            let middle = (low + high) / 2
            if confirmed[middle].position > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Ledger.Decision {
    init(_ id: IntentID, _ sent: FeedEvent, _ ruling: Ledger.Outcome) {
        self.init(
            replica: id.replica.description, number: id.number.value, sent: sent, ruling: ruling)
    }

    var id: IntentID? {
        ReplicaID(replica).map { IntentID(replica: $0, number: IntentNumber(number)) }
    }
}

private enum LedgerError: Error {
    case notADecision
    case decidedTwice(IntentID)
}
