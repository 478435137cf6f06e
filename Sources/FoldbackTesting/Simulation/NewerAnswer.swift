import Foldback
import FoldbackSync

/// An authority's answer as a newer server sends it: events as bytes, which can differ from the
/// bytes of the replica, and events in a format that no replica reads.
struct NewerAnswer<P: EventFold>: Sendable {
    /// A format that no app of a simulation reads.
    private static var unknown: EventFormat { EventFormat(codec: 127, version: 1) }

    private let codec = P.codec

    /// Returns the page with an unknown event at each position.
    func page(of changes: Changes<P.Event>) -> Changes<P.Event>? {
        guard !changes.events.isEmpty else { return nil }
        let events = changes.events.enumerated().flatMap { index, event in
            let known = ConfirmedEvent(
                position: event.position, delivered: delivered(event.delivered),
                origin: event.origin)
            let unknown = ConfirmedEvent<P.Event>(
                position: event.position,
                recorded: RecordedEvent(format: Self.unknown, bytes: [UInt8(index % 251)]))
            return index.isMultiple(of: 2) ? [known, unknown] : [unknown, known]
        }
        return Changes(
            events: events, through: changes.through, hasMore: changes.hasMore,
            lineage: changes.lineage, head: changes.head, digest: changes.digest)
    }

    /// Returns the verdicts with their replacements as bytes; nil if there are none.
    func verdicts(of verdicts: Verdicts<P.Event>) -> Verdicts<P.Event>? {
        var hasReplacement = false
        let byIntent = verdicts.byIntent.mapValues { verdict in
            guard case .accepted(let position, let words?) = verdict else { return verdict }
            hasReplacement = true
            return .accepted(position: position, replacement: delivered(words))
        }
        guard hasReplacement else { return nil }
        return Verdicts(byIntent, lineage: verdicts.lineage, head: verdicts.head)
    }

    /// Returns the event as bytes. JSON gets white space that it does not need.
    private func delivered(_ delivered: DeliveredEvent<P.Event>) -> DeliveredEvent<P.Event> {
        guard let event = delivered.event, let bytes = try? codec.encode(event) else {
            return delivered
        }
        let isJSON = codec.format.codec == EventFormat.json.codec
        return .recorded(
            RecordedEvent(
                format: codec.format, bytes: isJSON ? [UInt8(ascii: " ")] + bytes : bytes))
    }
}
