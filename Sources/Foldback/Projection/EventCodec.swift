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
public struct JSONCodec<Event: Codable & Sendable>: EventCodec {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    public let format: EventFormat

    /// Makes a codec that writes this version.
    ///
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

/// A codec whose values all read the same events from the same bytes.
package protocol UniformCodec: EventCodec {}

extension JSONCodec: UniformCodec {}

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

    /// Returns the payload of bytes in the log. Unreadable bytes are kept unchanged (L5).
    package func payload(
        reading bytes: [UInt8], format: EventFormat, comparison: EventComparison? = nil
    ) -> Payload {
        let content: Payload.Content
        do {
            content = .event(try decode(bytes.span.bytes, format: format))
        } catch let error as DecodingError {
            content = .unreadable(error.reason(in: bytes))
        } catch {
            content = .unreadable("\(error)")
        }
        return Payload(bytes: bytes, format: format, content: content, comparison: comparison)
    }
}

/// An app's codec without the type of its events.
package struct AppCodec<Event: Sendable>: PayloadCodec {
    private let codec: any EventCodec<Event>

    package init(codec: any EventCodec<Event>) { self.codec = codec }

    package var format: EventFormat? { codec.format }

    package func payload(reading bytes: [UInt8], format: EventFormat) -> Payload {
        codec.payload(reading: bytes, format: format)
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
