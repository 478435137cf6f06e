import Foldback
import FoldbackExamples

/// The story's authority: it has its own order of events, decides each intent once, and repeats its
/// verdict (A1).
///
/// It treats all devices the same, and knows them only from the ids of their intents.
struct FeedServer {
    enum Verdict {
        /// `replacement` is the authority's event if it differs from the intent's event.
        case accepted(Position, replacement: FeedEvent?)
        case rejected(Rejection)
    }

    private var state = Feed()
    private var confirmed: [ConfirmedEvent<FeedEvent>] = []
    private var decisions: [IntentID: (event: FeedEvent, verdict: Verdict)] = [:]

    /// The position of the last confirmed event.
    var head: Position { Position(UInt64(confirmed.count)) }

    /// Decides an intent by applying its event to the authority's own state.
    mutating func receive(_ id: IntentID, _ event: FeedEvent) -> Verdict {
        if let decision = decisions[id] {
            guard decision.event == event else {
                return .rejected(Rejection(code: "reused", message: "\(id) has another event"))
            }
            return decision.verdict
        }
        let verdict = decide(id, event)
        decisions[id] = (event, verdict)
        return verdict
    }

    private mutating func decide(_ id: IntentID, _ event: FeedEvent) -> Verdict {
        let replacement = replacement(for: event)
        do { try state.apply(replacement, EventContext(.intent(id))) } catch {
            return .rejected(Rejection(code: error.code.rawValue, message: "\(error)"))
        }
        let position = Position(head.value + 1)
        confirmed.append(ConfirmedEvent(position: position, event: replacement, origin: id))
        return .accepted(position, replacement: replacement == event ? nil : replacement)
    }

    /// The authority's own event: a comment loses repeated spaces and "!", and a boost gets its
    /// reach.
    private func replacement(for event: FeedEvent) -> FeedEvent {
        switch event.did {
        case .commented(let post, let text):
            return FeedEvent(by: event.by, did: .commented(post: post, text: calmed(text)))
        case .boosted(let post, _):
            let reach = 40 * (1 + (state.posts[post]?.likes.count ?? 0))
            return FeedEvent(by: event.by, did: .boosted(post: post, reach: reach))
        case .posted, .postedPhoto, .deleted, .restored, .liked, .unliked, .followed, .unfollowed,
            .blocked, .unblocked:
            return event
        }
    }

    /// Replaces several spaces by one, and several "!" by one.
    private func calmed(_ text: String) -> String {
        text.reduce(into: "") { result, letter in
            if letter != result.last || !" !".contains(letter) { result.append(letter) }
        }
    }

    /// The downlink: the events after a position that `reader` may see. Events up to ``head`` that
    /// are missing are private to other users (A2).
    func events(for reader: String, after start: Position) -> [ConfirmedEvent<FeedEvent>] {
        confirmed.filter { confirmed in
            guard confirmed.position > start, let event = confirmed.event else { return false }
            return event.by == reader || !event.did.isPrivate
        }
    }

    /// The authority's fold of the events up to a position that `reader` may see.
    func feed(for reader: String, through end: Position) throws -> Feed {
        try events(for: reader, after: 0).filter { $0.position <= end }.reduce(into: Feed()) {
            if let event = $1.event { try $0.apply(event, $1.context) }
        }
    }
}
