/// Reads events out of a log for those who do not know their type.
package protocol PayloadCodec: Sendable {
    /// The payload with its event, or with why it cannot be read (L5).
    func payload(reading bytes: [UInt8], format: EventFormat) -> Payload
}

/// Leaves events as the bytes that they are: for tools that read any log without its types.
package struct RawCodec: PayloadCodec {
    package init() {}

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        Payload(bytes: bytes, format: format, content: .event(bytes))
    }
}
