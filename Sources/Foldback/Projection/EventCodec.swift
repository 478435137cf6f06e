#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns events into the bytes that the log keeps, and back.
///
/// Called on whichever task records or reads, several at once. `decode` is the inverse of `encode`.
/// Events that are equal should have equal bytes: a confirmed event that comes back as it was recorded
/// then costs no refold of the overlay.
public protocol EventCodec<Event>: Sendable {
    associatedtype Event: Sendable
    /// What `encode` writes.
    var format: EventFormat { get }
    func encode(_ event: Event) throws -> [UInt8]
    /// The event of bytes that were written in `format`; older formats may be in the log.
    ///
    /// - Throws: where the bytes cannot be read. The event is then a fault or a conflict (L5, F9).
    func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event
}

/// The default: JSON with sorted keys, so that a log can be read with ordinary tools.
///
/// Reads JSON of any version, and nothing that another codec wrote, whatever its bytes look like.
public struct JSONCodec<Event: Codable & Sendable>: EventCodec {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    public let format: EventFormat

    /// - Parameter version: see ``EventFormat/version``.
    public init(version: UInt16 = 1) {
        format = EventFormat(codec: EventFormat.json.codec, version: version)
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    public func encode(_ event: Event) throws -> [UInt8] { Array(try encoder.encode(event)) }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event {
        guard format.codec == self.format.codec else { throw UnknownFormat(format: format) }
        return try bytes.withUnsafeBytes { try decoder.decode(Event.self, from: Data($0)) }
    }
}

extension EventCodec {
    package func payload(of event: Event) throws -> Payload {
        Payload(bytes: try encode(event), format: format, content: .event(event))
    }

    /// The payload that the log has; unreadable bytes are kept as they are (L5).
    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        let content: Payload.Content
        do {
            content = .event(try decode(bytes.span.bytes, format: format))
        } catch {
            content = .unreadable("\(error)")
        }
        return Payload(bytes: bytes, format: format, content: content)
    }
}

/// An app's codec, without the type of its events.
package struct AppCodec<Event: Sendable>: PayloadCodec {
    private let codec: any EventCodec<Event>

    package init(codec: any EventCodec<Event>) { self.codec = codec }

    package var format: EventFormat? { codec.format }

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        codec.payload(reading: bytes, format: format)
    }
}
