import Foldback
import FoldbackSync

/// Returns an authority that supersedes the log of a replica, for tests.
///
/// It has the log's intent 1, which sets "a" to 1, and two events of others, which set "theirs". Its
/// lineage is "second", and its head is 3.
public func secondAuthority(
    after replica: ReplicaID
) async throws -> InProcessAuthority<Documents> {
    guard let lineage = Lineage("second"), let other = ReplicaID("other") else {
        preconditionFailure("the names are valid")
    }
    let authority = InProcessAuthority(Documents.self, lineage: lineage)
    let events: [(IntentID, Documents.Event)] = [
        (IntentID(replica: other, number: 1), .set("theirs", 1)),
        (IntentID(replica: replica, number: 1), .set("a", 1)),
        (IntentID(replica: other, number: 2), .set("theirs", 2)),
    ]
    for (id, event) in events {
        let recorded = RecordedEvent(
            format: Documents.codec.format, bytes: try Documents.codec.encode(event))
        let intent = Submission(
            id: id, event: event, recorded: recorded, time: Timestamp(millisecondsSince1970: 0),
            info: [:])
        _ = try await authority.submit([intent], from: SyncPoint(lineage: nil, through: 0))
    }
    return authority
}
