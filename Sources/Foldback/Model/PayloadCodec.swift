/// Reads events out of a log for those who do not know their type.
package protocol PayloadCodec: Sendable {
    /// What it makes of bytes is part of a fold: a state that was folded with another is none of its own.
    /// Nil where it makes nothing of them.
    var format: EventFormat? { get }

    /// The payload with its event, or with why it cannot be read (L5).
    func payload(reading bytes: [UInt8], format: EventFormat) -> Payload
}

/// Leaves events as the bytes that they are: for tools that read any log without its types.
package struct RawCodec: PayloadCodec {
    package init() {}

    package var format: EventFormat? { nil }

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        Payload(bytes: bytes, format: format, content: .event(bytes))
    }
}
