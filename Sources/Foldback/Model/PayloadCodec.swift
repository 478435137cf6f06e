/// Reads events from a log for code that does not know their type.
package protocol PayloadCodec: Sendable {
    /// The format that identifies this codec; nil if the codec leaves bytes as they are.
    ///
    /// The events that a codec reads are part of a fold. A state that another codec's events made
    /// is not used.
    var format: EventFormat? { get }

    /// Compares the codec's events; nil if bytes alone decide.
    var comparison: EventComparison? { get }

    /// Whether the codec notes the members that it does not read (E11).
    var notesMembers: Bool { get }
    /// The members that the app does not read on purpose, as ``UnreadPart/members``.
    var ignoredMembers: Set<ExactString> { get }
    /// The same codec before it has read anything. What it leaves of an event can depend on the
    /// events that it has read before.
    var fresh: any PayloadCodec { get }

    /// Returns the payload with its event, or with the reason why it cannot be read (L5).
    func payload(reading bytes: [UInt8], format: EventFormat) -> Payload

    /// Returns whether the codec can read the event. Costs less than a payload with the reason.
    func canRead(_ bytes: [UInt8], format: EventFormat) -> Bool
}

/// A codec that leaves events as bytes, for tools that read a log without its types.
package struct RawCodec: PayloadCodec {
    package init() {}

    package var format: EventFormat? { nil }
    package var comparison: EventComparison? { nil }
    package var notesMembers: Bool { false }
    package var ignoredMembers: Set<ExactString> { [] }
    package var fresh: any PayloadCodec { self }

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        Payload(bytes: bytes, format: format, content: .event(bytes))
    }

    package func canRead(_ bytes: [UInt8], format: EventFormat) -> Bool { true }
}
