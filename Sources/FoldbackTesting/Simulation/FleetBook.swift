import Foldback
import FoldbackSync
import Synchronization

/// The answers that users got when they recorded, kept outside of every log. Logs and authorities
/// are compared with it.
final class FleetBook<P: Projection>: Sendable {
    private struct Intent {
        /// The event as a log returns it.
        let bytes: [UInt8]
        let ruling: FleetScript<P.Event>.Ruling
        /// The name of the replica whose user recorded it.
        let replica: String
        /// The event of the first request with the intent; nil if none began.
        var sent: RecordedEvent?
        var isAbandoned = false
    }

    private let intents = Mutex<[IntentID: Intent]>([:])
    private let freshCount = Mutex(0)
    /// The intents of new logs, by the intents of superseded logs that they continue.
    private let origins = Mutex<[IntentID: IntentID]>([:])
    /// The intents of superseded logs.
    private let left = Mutex<Set<IntentID>>([])
    /// The intents whose rejections came from superseded logs.
    private let rejectedBefore = Mutex<Set<IntentID>>([])
    /// The intents whose events an authority has lost.
    private let lost = Mutex<Set<IntentID>>([])
    /// The intents that undo another one, with that one.
    private let undoings = Mutex<[IntentID: IntentID]>([:])
    /// The intents that need not come back if they are lost, under the ids that users recorded.
    private let givenUp = Mutex<Set<IntentID>>([])

    /// A replica id that no other log of the fleet has.
    func freshReplica(after name: String) -> ReplicaID {
        .named(
            freshCount.withLock { count in
                count += 1
                return "\(name)\(count)"
            })
    }

    func freshLineage() -> Lineage {
        let count = freshCount.withLock { count in
            count += 1
            return count
        }
        guard let lineage = Lineage("lineage \(count)") else {
            preconditionFailure("a lineage was refused")
        }
        return lineage
    }

    // MARK: Undo

    /// Notes that an intent undoes another one.
    func note(_ id: IntentID, undoing undone: IntentID) {
        undoings.withLock { $0[id] = original(of: undone) }
    }

    /// Whether an intent of a replica undoes another one.
    func hasUndoings(of replica: String) -> Bool {
        let undoings = undoings.withLock { $0 }
        return intents.withLock { intents in
            undoings.keys.contains { intents[$0]?.replica == replica }
        }
    }

    /// The intents that undo another one, with that one, under the ids that users recorded. Left out
    /// are those that a user has withdrawn or abandoned alone.
    var undone: [IntentID: IntentID] {
        let givenUp = givenUp.withLock { $0 }
        return undoings.withLock { $0 }.filter { !givenUp.contains($0.key) }
    }

    // MARK: Superseded logs

    /// Notes that a new log continues an intent.
    ///
    /// - Parameter delivered: the event if it is as an authority had it, which may have reworded the
    ///   intent; nil if the intent came from its own entry.
    func note(_ id: IntentID, continuing old: IntentID, delivered: P.Event?) {
        origins.withLock { $0[id] = original(of: old, $0) }
        let bytes = delivered.flatMap { try? P.codec.encode($0) }
        intents.withLock { intents in
            guard let known = intents[old] else { return }
            intents[id] = Intent(
                bytes: bytes ?? known.bytes, ruling: known.ruling, replica: known.replica)
        }
    }

    /// Notes that a superseded log had these intents.
    func noteLeft(_ ids: [IntentID]) { left.withLock { $0.formUnion(ids) } }

    /// Notes that an intent came with its rejection, so no authority decides on it again.
    func noteRejectedBefore(_ id: IntentID) { rejectedBefore.withLock { _ = $0.insert(id) } }

    func isRejectedBefore(_ id: IntentID) -> Bool { rejectedBefore.withLock { $0.contains(id) } }

    /// Notes that the authority has lost the events of these intents.
    func noteLost(_ ids: [IntentID]) { lost.withLock { $0.formUnion(ids) } }

    /// Returns the lost intents that the authority must have again at the end, under the ids that
    /// users recorded.
    var wantedBack: Set<IntentID> {
        Set(lost.withLock { $0 }.map { original(of: $0) })
            .subtracting(givenUp.withLock { $0 })
    }

    /// Notes that a user takes an intent back.
    func givesUp(_ id: IntentID) {
        let original = original(of: id)
        givenUp.withLock { _ = $0.insert(original) }
    }

    /// Returns the intents of all logs of a replica.
    func ids(of replica: String) -> [IntentID] {
        intents.withLock { $0.filter { $0.value.replica == replica }.map(\.key) }
    }

    func isLeft(_ id: IntentID) -> Bool { left.withLock { $0.contains(id) } }

    /// The intent that a user recorded, which may have continued under other ids.
    func original(of id: IntentID) -> IntentID { origins.withLock { original(of: id, $0) } }

    private func original(of id: IntentID, _ origins: [IntentID: IntentID]) -> IntentID {
        origins[id] ?? id
    }

    /// In order of replica and number.
    var ids: [IntentID] {
        intents.withLock { intents in
            intents.keys.sorted {
                ($0.replica.description, $0.number) < ($1.replica.description, $1.number)
            }
        }
    }

    /// Notes that the log of a replica has recorded an intent.
    /// - Throws: an error of the codec.
    func note(
        _ id: IntentID, _ event: P.Event, _ ruling: FleetScript<P.Event>.Ruling,
        by replica: String
    ) throws {
        let bytes = try P.codec.encode(event)
        let read = try P.codec.decode(bytes.span.bytes, format: P.codec.format)
        let intent = Intent(bytes: try P.codec.encode(read), ruling: ruling, replica: replica)
        intents.withLock { $0[id] = intent }
    }

    func ruling(on id: IntentID) -> FleetScript<P.Event>.Ruling {
        intents.withLock { $0[id]?.ruling } ?? .accept
    }

    /// Whether the authority fails on each request with the intent.
    func isPoison(_ id: IntentID) -> Bool {
        if case .poison = ruling(on: id) { true } else { false }
    }

    func has(_ id: IntentID) -> Bool { intents.withLock { $0[id] != nil } }

    /// Whether a request with the intent ever began.
    func hasLeft(_ id: IntentID) -> Bool { intents.withLock { $0[id]?.sent != nil } }

    /// Whether a user ever abandoned the intent.
    func isAbandoned(_ id: IntentID) -> Bool { intents.withLock { $0[id]?.isAbandoned ?? false } }

    func abandons(_ id: IntentID) {
        intents.withLock { $0[id]?.isAbandoned = true }
        givesUp(id)
    }

    /// Notes that a request with an intent begins.
    /// - Returns: what is wrong with the request; nil if nothing is.
    func leaves(_ intent: Submission<P.Event>) -> String? {
        let bytes = try? P.codec.encode(intent.event)
        return intents.withLock { intents in
            guard let known = intents[intent.id] else {
                return
                    "Intent \(intent.id) is sent, but no user recorded an intent with this id (A1)."
            }
            intents[intent.id]?.sent = known.sent ?? intent.recorded
            return known.bytes == bytes && known.sent ?? intent.recorded == intent.recorded
                ? nil : "Intent \(intent.id) is sent with another event than was recorded (A1)."
        }
    }
}
