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

    /// Creates a kind with its activity.
    public init(_ activity: String) { self.activity = activity }

    /// Creates a kind, as in `Wait("signing in")`.
    public init(stringLiteral activity: String) { self.activity = activity }

    /// Data come from a server or a disk.
    public static let loading: WaitKind = "loading"
    /// A message or a change goes to a server.
    public static let sending: WaitKind = "sending"
    /// Work is stored.
    public static let saving: WaitKind = "saving"
}
