#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns events into the bytes that the log stores, and back.
///
/// Several tasks may call a codec at the same time. `decode` is the inverse of `encode`. Equal
/// events should have equal bytes. Then an event that is confirmed as recorded is a fast-forward,
/// and the overlay is not folded again.
public protocol EventCodec<Event>: Sendable {
    associatedtype Event: Sendable
    /// The format that `encode` writes.
    var format: EventFormat { get }
    /// Returns the event's bytes in ``format``.
    func encode(_ event: Event) throws -> [UInt8]
    /// Returns the event of bytes that were written in `format`. The log may have older formats.
    ///
    /// - Throws: any error if the bytes cannot be read. The event is then a fault or a conflict
    ///   (L5, F9).
    func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event
}

/// JSON with sorted keys, the default. Ordinary tools can read such a log.
///
/// It reads JSON of any version. It refuses bytes that another codec wrote, even if they look like
/// JSON.
///
/// An event of a higher version, or with members that the event's type does not read, is read in
/// part: it is folded as it was read, and ``StoreStatus/partlyReadCount`` counts it. Code that reads
/// more of it folds it again (E11).
public struct JSONCodec<Event: Codable & Sendable>: EventCodec {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private let members = MemberReader<Event>()

    public let format: EventFormat
    /// The members that the app does not read on purpose.
    public let ignoredMembers: Set<String>

    /// Makes a codec that writes this version.
    ///
    /// - Parameters:
    ///   - version: increment it if the events get a new member, or if older bytes must be read in
    ///     a different way.
    ///   - ignoredMembers: members that are in events, and that the app does not read on purpose,
    ///     for example because it has dropped them: `/liked/mood`. JSON pointers (RFC 6901); `*`
    ///     stands for any element of an array and any value of a dictionary.
    /// - Precondition: each is a JSON pointer.
    public init(version: UInt16 = 1, ignoredMembers: Set<String> = []) {
        for member in ignoredMembers {
            precondition(
                JSONPointer(member)?.names.isEmpty == false,
                "\"\(member)\" is not the JSON pointer of a member, like \"/liked/mood\"")
        }
        format = EventFormat(codec: EventFormat.json.codec, version: version)
        self.ignoredMembers = ignoredMembers
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    public func encode(_ event: Event) throws -> [UInt8] { Array(try encoder.encode(event)) }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event {
        guard format.codec == self.format.codec else { throw UnknownFormat(format: format) }
        return try bytes.withUnsafeBytes { try decoder.decode(Event.self, from: Data($0)) }
    }
}

/// A codec whose values all read the same events from the same bytes.
package protocol UniformCodec: EventCodec {}

extension JSONCodec: UniformCodec {}

/// A codec of events whose bytes name their members.
package protocol MemberCodec<Event>: EventCodec {
    /// Whether there can be members that it leaves unread.
    var namesMembers: Bool { get }
    /// The members that are left on purpose.
    var ignoredMembers: Set<String> { get }
    /// The same codec before it has read anything.
    var fresh: any EventCodec<Event> { get }

    /// Returns whether nothing is left of bytes that were decoded as `event`, by what it has read before.
    /// It learns nothing from the event.
    func knowsMembers(in bytes: RawSpan, format: EventFormat, of event: Event) -> Bool

    /// Returns the members that decoding these bytes left unread; see ``UnreadPart/members``.
    ///
    /// It learns from the event: a member that it reads here counts as read in all later events.
    func membersLeft(in bytes: RawSpan, format: EventFormat, by event: Event) -> Set<ExactString>
}

extension JSONCodec: MemberNaming {
    package var naming: (any MemberNames)? { members }
}

extension JSONCodec: MemberCodec {
    package var namesMembers: Bool { true }
    package var fresh: any EventCodec<Event> {
        JSONCodec(version: format.version, ignoredMembers: ignoredMembers)
    }

    package func knowsMembers(
        in bytes: RawSpan, format: EventFormat, of event: Event
    ) -> Bool {
        bytes.withUnsafeBytes { members.knowsMembers(in: $0) }
    }

    package func membersLeft(
        in bytes: RawSpan, format: EventFormat, by event: Event
    ) -> Set<ExactString> {
        let left = bytes.withUnsafeBytes { members.membersLeft(in: $0, by: event) }
        // Nearly always, nothing is left.
        guard !left.isEmpty else { return [] }
        return Set(left.map { ExactString($0.description) }.filter { !ignores($0) })
    }

    private func ignores(_ member: ExactString) -> Bool {
        ignoredMembers.contains { ExactString($0) == member }
    }
}

extension EventCodec {
    package func payload(
        of event: Event, comparison: EventComparison? = nil
    ) throws -> Payload {
        Payload(
            bytes: try encode(event), format: format, content: .event(event),
            comparison: comparison)
    }

    /// The comparison of this codec's events.
    package var comparison: EventComparison {
        EventComparison { event in
            guard let event = event as? Event else {
                preconditionFailure("the event has type \(type(of: event)), not \(Event.self)")
            }
            return try encode(event)
        }
    }
}

/// An app's codec without the type of its events.
package struct AppCodec<Event: Sendable>: PayloadCodec {
    private let codec: any EventCodec<Event>
    /// The codec again, if it notes members.
    private let members: (any MemberCodec<Event>)?
    private let ownFormat: EventFormat

    package init(codec: any EventCodec<Event>) {
        self.codec = codec
        ownFormat = codec.format
        let members = codec as? any MemberCodec<Event>
        self.members = members?.namesMembers == true ? members : nil
    }

    package var format: EventFormat? { ownFormat }
    package var comparison: EventComparison? { codec.comparison }
    package var notesMembers: Bool { members != nil }
    package var ignoredMembers: Set<ExactString> {
        Set((members?.ignoredMembers ?? []).map { ExactString($0) })
    }
    package var fresh: any PayloadCodec {
        members.map { AppCodec(codec: $0.fresh) } ?? self
    }

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        payload(reading: bytes, format: format, comparison: nil)
    }

    /// Returns the payload of bytes in the log. Unreadable bytes are kept unchanged (L5).
    package func payload(
        reading bytes: [UInt8], format: EventFormat, comparison: EventComparison?
    ) -> Payload {
        let content: Payload.Content
        var part: UnreadPart?
        do {
            let event = try codec.decode(bytes.span.bytes, format: format)
            content = .event(event)
            part = unreadPart(of: bytes, format, by: event)
        } catch let error as DecodingError {
            content = .unreadable(error.reason(in: bytes))
        } catch {
            content = .unreadable("\(error)")
        }
        return Payload(
            bytes: bytes, format: format, content: content, comparison: comparison,
            unreadPart: part)
    }

    /// Most codecs name no members, and most events have the codec's version, so this is inlined.
    @inline(__always)
    private func unreadPart(
        of bytes: [UInt8], _ format: EventFormat, by event: Event
    ) -> UnreadPart? {
        let isNewer = format.codec == ownFormat.codec && format.version > ownFormat.version
        guard let members else {
            return isNewer ? UnreadPart(isNewer: true, members: []) : nil
        }
        let left = members.membersLeft(in: bytes.span.bytes, format: format, by: event)
        return isNewer || !left.isEmpty ? UnreadPart(isNewer: isNewer, members: left) : nil
    }

    package func canRead(_ bytes: [UInt8], format: EventFormat) -> Bool {
        do {
            _ = try codec.decode(bytes.span.bytes, format: format)
            return true
        } catch {
            return false
        }
    }
}
