/// The codec that wrote an event, and its version. Each record of the log has it (L5).
public struct EventFormat: Hashable, Sendable, CustomStringConvertible {
    /// The codec's number: 1 for JSON, 2 to 127 reserved for Foldback. 0 in records without an
    /// event, and in the header of a batch in which each event has its own format.
    ///
    /// 128 to 255 belong to the app. It must never use the number of one codec for another.
    public let codec: UInt8
    /// The version of the codec's bytes, from 1. The app increments it if events get a new member, or
    /// if older bytes must be read in a different way.
    public let version: UInt16

    public init(codec: UInt8, version: UInt16) {
        self.codec = codec
        self.version = version
    }

    public static let json = EventFormat(codec: 1, version: 1)

    /// The format of records without an event.
    package static let none = EventFormat(codec: 0, version: 0)

    /// The codec numbers that apps may choose.
    package static let appCodecs: ClosedRange<UInt8> = 128...255

    public var description: String { "codec \(codec), version \(version)" }
}
