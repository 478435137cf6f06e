/// Something that happened during a wait.
///
/// After the end, only ``restarted`` and ``reduceMotion(_:)`` have an effect.
public enum ProgressInput: Hashable, Sendable {
    /// The part of the work that is done, from 0 to 1. It is a sign of life, whatever the number. A
    /// number that is not higher than the last number changes nothing else (U13).
    ///
    /// The remaining time is estimated from the speed since the first fraction, so report 0 at the
    /// start of work that begins from nothing.
    case fraction(Double)
    /// The work goes on: a byte, an answer, a message.
    case signOfLife
    /// The number of attempts that were begun, from 1 up. It is a sign of life.
    case attempt(Int)
    /// Why the wait takes long. Silence that the cause before excused does not count later (U14).
    case cause(WaitCause)
    /// The person's setting for motion, at any time.
    case reduceMotion(Bool)
    /// The work begins from the start. The cause, the setting for motion and a visible indicator
    /// stay, and a fraction is 0.
    case restarted
    /// The work is done.
    case succeeded
    /// The work is not done, and does not go on.
    case failed(Recovery)
    /// The person or the app has ended the work.
    case cancelled
    /// The person does something else while the work goes on.
    case continuedInBackground
}
