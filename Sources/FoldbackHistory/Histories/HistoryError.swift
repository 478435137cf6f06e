import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An error of making, changing or importing a history. Nothing was made or changed.
///
/// ```swift
/// do {
///     try await history.importLog(into: directory)
/// } catch {
///     switch error {
///     case .doesNotFollow: try await history.closed().importLog(into: directory)
///     default: throw error
///     }
/// }
/// ```
///
/// Functions that only read a log or a history throw ``/Foldback/LogError`` itself.
@nonexhaustive
public enum HistoryError: Error, Sendable {
    /// An entry of a `RecordedHistory` cannot follow the entries before it, for the given reason.
    case doesNotFollow(LogSequence, reason: String)
    /// An edit names an entry or intent that the history does not have, or no longer has.
    case invalidEdit(reason: String)
    /// The log cannot be read or filled, or an edit names an entry or intent that never was.
    case log(LogError)
}

extension HistoryError {
    /// Calls `body`, and throws its error as an error of a history.
    static func converting<T>(
        _ body: () throws(LogError) -> T
    ) throws(HistoryError) -> T {
        do throws(LogError) { return try body() } catch { throw .log(error) }
    }
}

extension HistoryError: CustomStringConvertible {
    /// One line that says what happened, to what, and what to do.
    public var description: String { explanation.line }

    private var explanation: Explanation {
        switch self {
        case .doesNotFollow(let sequence, let reason):
            Explanation("entry \(sequence) cannot follow the entries before it: \(reason)")
        case .invalidEdit(let reason): Explanation("the edit cannot be made: \(reason)")
        case .log(let error): error.explanation
        }
    }
}

extension HistoryError: LocalizedError {
    /// What happened, as a sentence.
    public var errorDescription: String? { explanation.sentence }

    /// What to do, as a sentence; nil if nothing helps in general.
    public var recoverySuggestion: String? { explanation.suggestion }
}
