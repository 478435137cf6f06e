import Foldback
import FoldbackExamples

/// The authority, as section 3 of the design asks for one: it has an order of its own, decides each
/// intent once, and repeats what it decided as often as it is asked (A1).
///
/// It knows of no device but by the ids of intents; Mia's come in by the same door as everybody's.
struct FeedServer {
    enum Verdict {
        /// With the authority's own words, where they are not the intent's.
        case accepted(Position, replacement: FeedEvent?)
        case rejected(Rejection)
    }

    private var state = Feed()
    private var happened: [ConfirmedEvent<FeedEvent>] = []
    private var decisions: [IntentID: (asked: FeedEvent, verdict: Verdict)] = [:]

    /// The position of whatever happened last.
    var head: Position { Position(UInt64(happened.count)) }

    /// Decides on an intent that arrives, by what the same projection says of it here.
    mutating func receive(_ id: IntentID, _ event: FeedEvent) -> Verdict {
        if let decision = decisions[id] {
            guard decision.asked == event else {
                return .rejected(Rejection(code: "reused", message: "\(id) was something else"))
            }
            return decision.verdict
        }
        let verdict = decide(id, event)
        decisions[id] = (event, verdict)
        return verdict
    }

    private mutating func decide(_ id: IntentID, _ event: FeedEvent) -> Verdict {
        let words = reworded(event)
        do { try state.apply(words, EventContext(.intent(id))) } catch {
            return .rejected(Rejection(code: error.code.rawValue, message: "\(error)"))
        }
        let position = Position(head.value + 1)
        happened.append(ConfirmedEvent(position: position, event: words, origin: id))
        return .accepted(position, replacement: words == event ? nil : words)
    }

    /// The authority's own words: calmer comments, and how far a boost goes.
    private func reworded(_ event: FeedEvent) -> FeedEvent {
        switch event.did {
        case .commented(let post, let text):
            return FeedEvent(by: event.by, did: .commented(post: post, text: calmed(text)))
        case .boosted(let post, _):
            let reach = 40 * (1 + (state.posts[post]?.likes.count ?? 0))
            return FeedEvent(by: event.by, did: .boosted(post: post, reach: reach))
        case .posted, .deleted, .restored, .liked, .followed, .blocked, .unblocked: return event
        }
    }

    /// One space where there are several, and one "!".
    private func calmed(_ text: String) -> String {
        text.reduce(into: "") { result, letter in
            if letter != result.last || !" !".contains(letter) { result.append(letter) }
        }
    }

    /// The downlink: all that `reader` may see behind a position. What is up to ``head`` and not in it is
    /// private to others (A2).
    func news(for reader: String, after start: Position) -> [ConfirmedEvent<FeedEvent>] {
        happened.filter {
            $0.position > start && ($0.event.by == reader || !$0.event.did.isPrivate)
        }
    }

    /// The authority's own fold of what `reader` may see up to a position.
    func feed(for reader: String, through end: Position) throws -> Feed {
        try news(for: reader, after: 0).filter { $0.position <= end }.reduce(into: Feed()) {
            try $0.apply($1.event, $1.context)
        }
    }
}
