import Foldback
import FoldbackSync
import Synchronization

/// The answers that users got when they recorded, kept outside of every log. Logs and authorities are compared
/// with it.
final class FleetBook<P: Projection>: Sendable {
    private struct Intent {
        /// The event as a log returns it.
        let bytes: [UInt8]
        let ruling: FleetScript<P.Event>.Ruling
        var hasLeft = false
    }

    private let intents = Mutex<[IntentID: Intent]>([:])
    private let freshCount = Mutex(0)

    /// A replica id that no other log of the fleet has.
    func freshReplica(after name: String) -> ReplicaID {
        .named(
            freshCount.withLock { count in
                count += 1
                return "\(name)\(count)"
            })
    }

    /// In order of replica and number.
    var ids: [IntentID] {
        intents.withLock { intents in
            intents.keys.sorted {
                ($0.replica.description, $0.number) < ($1.replica.description, $1.number)
            }
        }
    }

    /// Notes that a log has recorded an intent.
    /// - Throws: an error of the codec.
    func note(
        _ id: IntentID, _ event: P.Event, _ ruling: FleetScript<P.Event>.Ruling
    ) throws {
        let bytes = try P.codec.encode(event)
        let read = try P.codec.decode(bytes.span.bytes, format: P.codec.format)
        let intent = Intent(bytes: try P.codec.encode(read), ruling: ruling)
        intents.withLock { $0[id] = intent }
    }

    func ruling(on id: IntentID) -> FleetScript<P.Event>.Ruling {
        intents.withLock { $0[id]?.ruling } ?? .accept
    }

    func has(_ id: IntentID) -> Bool { intents.withLock { $0[id] != nil } }

    /// Whether a request with the intent ever began.
    func hasLeft(_ id: IntentID) -> Bool { intents.withLock { $0[id]?.hasLeft ?? false } }

    /// Notes that a request with an intent begins.
    /// - Returns: what is wrong with the request; nil if nothing is.
    func leaves(_ intent: Submission<P.Event>) -> String? {
        let bytes = try? P.codec.encode(intent.event)
        return intents.withLock { intents in
            guard let known = intents[intent.id] else {
                return
                    "Intent \(intent.id) is sent, but no user recorded an intent with this id (A1)."
            }
            intents[intent.id]?.hasLeft = true
            return known.bytes == bytes
                ? nil : "Intent \(intent.id) is sent with another event than was recorded (A1)."
        }
    }
}
