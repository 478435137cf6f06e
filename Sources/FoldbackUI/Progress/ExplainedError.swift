/// An error that says what a person can do about it.
///
/// ```swift
/// extension MenuError: ExplainedError {
///     var recovery: Recovery? { Recovery(reason: message, canRestart: self == .timeout) }
/// }
/// ```
///
/// A wait that ends with such an error shows its ``recovery``.
public protocol ExplainedError: Error {
    /// The reason for people, and whether trying again may help; nil if somebody has canceled the
    /// work, so nothing is wrong.
    var recovery: Recovery? { get }
}

extension ProgressEnd {
    /// Creates the end of a wait with an error: a failure with its recovery. A `CancellationError`,
    /// and an ``ExplainedError`` without a recovery, cancel the wait.
    public init(_ error: any Error) {
        let recovery: Recovery? =
            switch error {
            case let error as any ExplainedError: error.recovery
            case is CancellationError: nil
            default: Recovery()
            }
        self = recovery.map { .failed($0) } ?? .cancelled
    }
}
