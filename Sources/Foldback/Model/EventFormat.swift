/// Which codec wrote an event, and in which version; each record of the log has it (L5).
public struct EventFormat: Hashable, Sendable, CustomStringConvertible {
    /// 0: no event, in records that have none. 1: JSON. 2 to 127 are kept for Foldback. 128 to 255 are the
    /// app's own, which gives each of its codecs a number that it never uses for another.
    public let codec: UInt8
    /// The version of what the codec writes, from 1; the app counts it up when older bytes are to be read in
    /// another way.
    public let version: UInt16

    public init(codec: UInt8, version: UInt16) {
        self.codec = codec
        self.version = version
    }

    public static let json = EventFormat(codec: 1, version: 1)

    /// Of what has no events.
    package static let none = EventFormat(codec: 0, version: 0)

    /// The numbers of codecs that apps may choose.
    package static let appCodecs: ClosedRange<UInt8> = 128...255

    public var description: String { "codec \(codec), version \(version)" }
}
