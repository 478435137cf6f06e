/// Something that happened during a wait.
///
/// After the end, only ``restarted`` and ``reduceMotion(_:)`` have an effect.
public enum ProgressInput: Hashable, Sendable {
    /// The part of the work that is done, from 0 to 1. It is a sign of life, whatever the number. A
    /// number that is not higher than the last number changes nothing else (U13).
    case fraction(Double)
    /// The work goes on: a byte, an answer, a message.
    case signOfLife
    /// The number of attempts that were begun, from 1 up. It is a sign of life.
    case attempt(Int)
    /// Why the wait takes long. The end of a cause that excuses the silence counts as a sign of
    /// life (U14).
    case cause(WaitCause)
    /// The person's setting for motion, at any time.
    case reduceMotion(Bool)
    /// The work begins from the start. The cause, the setting for motion and a visible indicator
    /// stay, and a fraction is 0.
    case restarted
    case succeeded
    case failed(Recovery)
    case cancelled
    /// The person does something else while the work goes on.
    case continuedInBackground
}
