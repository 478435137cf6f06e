import Foldback
import FoldbackReplay

/// An error in the form of the shell's error answers: a code for programs and a message for people.
public struct ShellError: Error {
    /// The error codes of the shell. Programs compare them, so they never change.
    public enum Code: String, Sendable {
        case badRequest = "bad_request"
        case inapplicable
        case unknownIntent = "unknown_intent"
        case notPending = "not_pending"
        case notRejected = "not_rejected"
        case compacted
        case damaged
        case storage
        case locked
    }

    public let code: Code
    public let message: String

    /// Creates an error. Shortens a long message, because it may quote a whole event.
    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shortened(to: 1_000)
    }

    /// Creates the shell's error for an error of the log.
    public init(_ error: LogError) {
        let code: Code =
            switch error {
            case .unknownIntent: .unknownIntent
            case .compacted, .compactedIntent: .compacted
            case .beyondEnd, .tooLarge, .kindDiffers, .needsArchive, .notABackup: .badRequest
            case .damaged, .newerFormat: .damaged
            case .locked: .locked
            default: .storage
            }
        self.init(code, error.description)
    }

    /// Creates the shell's error for an error of a command.
    public init(_ error: CommandError) {
        switch error {
        // The same documents can be a value or rows, and the answer is the same for both.
        case .inapplicable(let refusal):
            self.init(
                .inapplicable,
                "the event does not apply to the current view: \(refusal.reason); change it, or "
                    + "record it with force")
        // The shell has no outbox. An app that opened the log before may have sent the intent.
        case .notPending, .mayHaveLeft: self.init(.notPending, error.description)
        case .notRejected: self.init(.notRejected, error.description)
        // The contract has no codes of their own for these.
        case .notHeld, .onceKeyInUse, .notUndoable, .reworded, .tooMany, .invalidBatch, .tooLarge,
            .notEncodable:
            self.init(.badRequest, error.description)
        case .log(let error): self.init(error)
        default: self.init(.storage, error.description)
        }
    }

    /// Creates the error for a line that was not read completely.
    public init(refusedLine reason: String) { self.init(.badRequest, reason) }

    /// The error as an answer of the shell.
    public var json: JSON {
        [
            "ok": false,
            "error": ["code": .string(code.rawValue), "message": .string(message)],
        ]
    }
}
