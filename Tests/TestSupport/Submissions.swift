import Foldback
import FoldbackSync

extension Submission where Event == Move {
    /// An intent on its way, as an outbox would send it.
    package init(id: IntentID, event: Move) {
        let codec = Board.codec
        guard let bytes = try? codec.encode(event) else {
            preconditionFailure("\(event) cannot be encoded")
        }
        self.init(
            id: id, event: event, recorded: RecordedEvent(format: codec.format, bytes: bytes),
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}

extension Authority {
    /// Sends intents from a device that knows nothing of the authority.
    package func submit(
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try await submit(intents, from: SyncPoint(lineage: nil, through: 0))
    }

    /// Asks for changes from a device that knows no lineage.
    package func changes(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await changes(after: SyncPoint(lineage: nil, through: position))
    }
}
