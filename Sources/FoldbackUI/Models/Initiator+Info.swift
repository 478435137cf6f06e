import Foldback

/// An initiator in an intent's `info`, so that it outlives the process (U16).
extension Initiator {
    private static let infoKey = "by"
    private static let originPrefix = "user:"

    /// The notes for ``/Foldback/Store/record(_:force:confirmOnly:once:replacing:held:info:)``: `by` is `app`,
    /// `user`, or `user:` and the origin.
    public var info: [String: String] {
        switch self {
        case .app: [Self.infoKey: "app"]
        case .user(origin: nil): [Self.infoKey: "user"]
        case .user(let origin?): [Self.infoKey: Self.originPrefix + origin]
        }
    }

    /// Reads an initiator from an intent's notes. An intent without such notes is of a user.
    public init(info: [String: String]) {
        switch info[Self.infoKey] {
        case "app": self = .app
        case let text? where text.hasPrefix(Self.originPrefix):
            self = .user(origin: String(text.dropFirst(Self.originPrefix.count)))
        default: self = .user(origin: nil)
        }
    }
}

extension RejectedIntent {
    /// The announcement of the rejection; nil if the app began the intent by itself (U15).
    var cue: Cue? {
        guard Initiator(info: recorded.info).isPerson else { return nil }
        return .announce(.ended(.sending, .failed(recovery)), .assertive)
    }

    var recovery: Recovery { Recovery(reason: rejection.message) }
}
