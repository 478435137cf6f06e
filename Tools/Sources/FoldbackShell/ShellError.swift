import Foldback

/// An error as the shell answers it.
public struct ShellError: Error {
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

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public init(_ error: FoldbackError) {
        let code: Code =
            switch error {
            case .inapplicable: .inapplicable
            case .unknownIntent: .unknownIntent
            // No shell sends, but an app that did may have had the log before.
            case .notPending, .mayHaveLeft: .notPending
            case .notRejected: .notRejected
            case .invalidBatch, .beyondEnd, .tooLarge, .notEncodable, .kindDiffers: .badRequest
            case .damaged, .newerFormat: .damaged
            case .locked: .locked
            default: .storage
            }
        self.init(code, error.description)
    }

    var json: JSON {
        [
            "ok": false,
            "error": ["code": .string(code.rawValue), "message": .string(message)],
        ]
    }
}
