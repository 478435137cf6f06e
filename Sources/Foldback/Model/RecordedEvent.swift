/// An event as bytes, as a log or a wire has it.
///
/// Code that does not know an event's type can pass the event on without changing it.
public struct RecordedEvent: Hashable, Sendable {
    /// The codec that wrote the bytes, and its version.
    public let format: EventFormat
    /// The bytes as the codec wrote them.
    public let bytes: [UInt8]

    public init(format: EventFormat, bytes: [UInt8]) {
        self.format = format
        self.bytes = bytes
    }
}
