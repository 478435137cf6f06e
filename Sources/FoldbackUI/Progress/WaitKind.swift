/// What is done during a wait, in words.
///
/// ```swift
/// extension WaitKind { static let publishing = WaitKind("publishing") }
/// ```
public struct WaitKind: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The activity as an English present participle without a capital letter, such as "sending".
    /// ``ProgressTexts/english`` makes "Sending" and "Still sending" of it. In other languages, it
    /// is a key.
    public let activity: String

    public init(_ activity: String) { self.activity = activity }
    public init(stringLiteral activity: String) { self.activity = activity }

    public static let loading: WaitKind = "loading"
    public static let sending: WaitKind = "sending"
    public static let saving: WaitKind = "saving"
}
