/// An event that says who caused it, its actor. The timeline of a log's page has a row for each actor.
///
/// The page of events of another type has no such rows: it shows the log's own intents. The JSON of an
/// event says what became of it in a member with the name of the ``Attribution/Outcome``: the event that
/// was applied, null if none was, or the `message` and `code` of a rejection.
package protocol AttributedEvent: JSONRepresentable {
    /// What an actor is, in one word, such as `account`.
    static var actorNoun: String { get }
    /// Nil if nobody caused the event.
    var attribution: Attribution? { get }
}

/// Who caused an event, and what became of it.
package struct Attribution: Hashable, Sendable {
    package enum Outcome: String, Sendable {
        /// The event was applied as it was sent.
        case accepted
        /// Another event was applied, or none.
        case reworded
        case rejected
    }

    /// The actor's name. It is not empty.
    package let actor: String
    package let outcome: Outcome

    package init(actor: String, outcome: Outcome) {
        self.actor = actor
        self.outcome = outcome
    }
}
