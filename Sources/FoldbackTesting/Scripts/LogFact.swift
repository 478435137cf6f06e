import Foldback

/// What a log has recorded: one entry, as plainly as possible.
package enum LogFact<Event: Sendable>: Sendable {
    case intent(IntentNumber, Event, Terms)
    case acknowledged(IntentNumber, position: Position?, replacement: Event?)
    case changed(IntentNumber, IntentChange)
    case confirmed([ConfirmedEvent<Event>], through: Position)

    /// How an intent was recorded.
    package struct Terms: Sendable {
        package var confirmOnly = false
        package var once: String?
        package var retries: IntentNumber?
        package var held = false
        package var replacingKey: String?
        package var replaces: IntentNumber?
        package var group: IntentNumber?
        package var undoes: IntentNumber?
        /// The event that reverses it on the view that it was recorded on.
        package var inverse: Event?

        package init(
            confirmOnly: Bool = false, once: String? = nil, retries: IntentNumber? = nil,
            replacing key: String? = nil, held: Bool = false
        ) {
            self.confirmOnly = confirmOnly
            self.once = once
            self.retries = retries
            replacingKey = key
            self.held = held
        }

        func ofRetry(_ number: IntentNumber) -> Terms {
            var terms = Terms(
                confirmOnly: confirmOnly, once: once, retries: number, replacing: replacingKey)
            terms.undoes = undoes
            return terms
        }
    }
}
