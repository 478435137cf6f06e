/// Events through a ``ByteCodec``: smaller than JSON and much faster, for those who need it.
///
/// Each record of a log says in which format its events are, so they can stand beside those that the log
/// has from before. Named here, these are read; all that is recorded from now on is in this one's format.
///
/// ```swift
/// static let codec: any EventCodec<Event> = PackedCodec(
///     MessageEventBytes(), as: EventFormat(codec: 128, version: 1)
/// ).reading(JSONCodec())
/// ```
///
/// An event in a format that is not named cannot be read: a fault or a conflict, kept as it is, until it is
/// named (L5). See <doc:Codecs>.
public struct PackedCodec<Event: Sendable>: EventCodec {
    public let format: EventFormat
    private let codec: any ByteCodec<Event>
    private var others: [EventFormat: any EventCodec<Event>] = [:]

    /// - Parameters:
    ///   - codec: what writes the bytes, and reads those of this format.
    ///   - format: of the app's own: codec 128 to 255.
    public init(_ codec: some ByteCodec<Event>, as format: EventFormat) {
        precondition(
            EventFormat.appCodecs.contains(format.codec),
            "an app's own codec has a number from 128 to 255, not \(format.codec)")
        self.format = format
        self.codec = codec
    }

    /// The same codec, which also reads what `other` wrote: records of its ``EventCodec/format``, and of no
    /// other. A version of JSON is named like any other format.
    ///
    /// - Precondition: nobody reads that format yet.
    public func reading(_ other: some EventCodec<Event>) -> PackedCodec {
        precondition(
            other.format != format && others[other.format] == nil,
            "\(other.format) has two codecs")
        var codec = self
        codec.others[other.format] = other
        return codec
    }

    /// The same codec, which also reads what `older` wrote under `format`: a version from before.
    ///
    /// - Precondition: as for ``reading(_:)``.
    public func reading(_ older: some ByteCodec<Event>, as format: EventFormat) -> PackedCodec {
        reading(PackedCodec(older, as: format))
    }

    public func encode(_ event: Event) throws -> [UInt8] { try codec.bytes(of: event) }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event {
        if format == self.format { return try codec.decode(bytes) }
        guard let other = others[format] else { throw UnknownFormat(format: format) }
        return try other.decode(bytes, format: format)
    }
}

/// An event is in a format that the codec does not read.
struct UnknownFormat: Error, CustomStringConvertible {
    let format: EventFormat
    var description: String { "this code reads no events of \(format)" }
}
