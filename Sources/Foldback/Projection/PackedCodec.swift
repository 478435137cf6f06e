/// An event codec that writes through a ``ByteCodec``: smaller than JSON, and much faster.
///
/// Each record of a log has the format of its events, so one log can have several formats. This
/// codec writes all new events in its own format, and also reads the formats that ``reading(_:)``
/// adds.
///
/// ```swift
/// static let codec: any EventCodec<Event> = PackedCodec(
///     MessageEventBytes(), as: EventFormat(codec: 128, version: 1)
/// ).reading(JSONCodec())
/// ```
///
/// An event in any other format cannot be read. Until its format is added, it is a fault or a
/// conflict, and its bytes are kept unchanged (L5). See <doc:Codecs>.
public struct PackedCodec<Event: Sendable>: EventCodec {
    public let format: EventFormat
    private let codec: any ByteCodec<Event>
    private var others: [EventFormat: any EventCodec<Event>] = [:]

    /// Makes a codec for the app's own format.
    ///
    /// - Parameters:
    ///   - codec: writes the bytes, and reads the bytes of this format.
    ///   - format: the app's own format, with a codec number from 128 to 255.
    public init(_ codec: some ByteCodec<Event>, as format: EventFormat) {
        precondition(
            EventFormat.appCodecs.contains(format.codec),
            "an app's own codec has a number from 128 to 255, not \(format.codec)")
        self.format = format
        self.codec = codec
    }

    /// Returns a codec that also reads the events that `other` wrote in its ``EventCodec/format``.
    ///
    /// It reads this one format of `other` and no more. Add each version of JSON like any other
    /// format.
    ///
    /// - Precondition: this codec does not read that format yet.
    public func reading(_ other: some EventCodec<Event>) -> PackedCodec {
        precondition(
            other.format != format && others[other.format] == nil,
            "\(other.format) has two codecs")
        var codec = self
        codec.others[other.format] = other
        return codec
    }

    /// Returns a codec that also reads the events that `older`, an earlier version, wrote in
    /// `format`.
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

extension PackedCodec: MemberCodec {
    package var namesMembers: Bool {
        others.values.contains { ($0 as? any MemberCodec<Event>)?.namesMembers == true }
    }

    package var ignoredMembers: Set<String> {
        others.values.reduce(into: []) {
            $0.formUnion(($1 as? any MemberCodec<Event>)?.ignoredMembers ?? [])
        }
    }

    package var fresh: any EventCodec<Event> {
        var codec = self
        codec.others = others.mapValues { ($0 as? any MemberCodec<Event>)?.fresh ?? $0 }
        return codec
    }

    package func knowsMembers(
        in bytes: RawSpan, format: EventFormat, of event: Event
    ) -> Bool {
        guard format != self.format, let other = others[format] as? any MemberCodec<Event> else {
            return true
        }
        return other.knowsMembers(in: bytes, format: format, of: event)
    }

    package func membersLeft(
        in bytes: RawSpan, format: EventFormat, by event: Event
    ) -> Set<ExactString> {
        guard format != self.format, let other = others[format] as? any MemberCodec<Event> else {
            return []
        }
        return other.membersLeft(in: bytes, format: format, by: event)
    }
}

/// A codec that reads with other codecs.
package protocol CompositeCodec {
    /// Everything that decides how the codec reads, always in the same order.
    var readingParts: [Any] { get }
}

extension PackedCodec: CompositeCodec {
    package var readingParts: [Any] {
        let older = others.sorted {
            ($0.key.codec, $0.key.version) < ($1.key.codec, $1.key.version)
        }
        return [format, codec] + older.flatMap { [$0.key as Any, $0.value] }
    }
}

/// The error for an event in a format that the codec does not read.
struct UnknownFormat: Error, CustomStringConvertible {
    let format: EventFormat
    var description: String { "this code does not read events of \(format)" }
}
