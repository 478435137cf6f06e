/// Which codec wrote an event, and in which version; each record of the log has it (L5).
public struct EventFormat: Hashable, Sendable {
    /// 1: JSON. 2 to 127 are kept for Foldback; an app's own codec takes 128 to 255.
    public let codec: UInt8
    /// The version of the event's shape, from 1; the app counts it up when it changes.
    public let version: UInt16

    public init(codec: UInt8, version: UInt16) {
        self.codec = codec
        self.version = version
    }

    public static let json = EventFormat(codec: 1, version: 1)
}
