import Foldback

/// The reason why a model could not read rows.
///
/// The model reads again with the next update, so nobody has to ask for it.
@nonexhaustive
public enum ReadFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The store was closed before the first read.
    case closed
    /// The file or a row cannot be read, or the app's closure threw. `reason`: the error in words.
    case unreadable(reason: String)

    init(_ error: any Error) {
        if case LogError.closed = error {
            self = .closed
        } else {
            self = .unreadable(reason: "\(error)")
        }
    }

    public var description: String {
        switch self {
        case .closed: "the store was closed before the rows were read"
        case .unreadable(let reason): "the rows cannot be read: \(reason)"
        }
    }
}
