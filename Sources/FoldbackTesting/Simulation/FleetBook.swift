import Foldback
import FoldbackSync
import Synchronization

/// What users were told when they recorded, kept apart from every log: what logs and authorities are
/// held against.
final class FleetBook<P: Projection>: Sendable {
    private struct Intent {
        /// As a log gives the event back.
        let bytes: [UInt8]
        let ruling: FleetScript<P.Event>.Ruling
        var hasLeft = false
    }

    private let intents = Mutex<[IntentID: Intent]>([:])
    private let freshCount = Mutex(0)

    /// A name that no other log of the fleet has.
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

    /// Notes that a log has taken an intent.
    /// - Throws: what the codec throws.
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

    /// Whether a request with the intent was ever begun.
    func hasLeft(_ id: IntentID) -> Bool { intents.withLock { $0[id]?.hasLeft ?? false } }

    /// Notes that a request with an intent is begun.
    /// - Returns: what is wrong with it; nil where nothing is.
    func leaves(_ intent: Submission<P.Event>) -> String? {
        let bytes = try? P.codec.encode(intent.event)
        return intents.withLock { intents in
            guard let known = intents[intent.id] else {
                return "Intent \(intent.id) is sent, and no user was told of one by that id (A1)."
            }
            intents[intent.id]?.hasLeft = true
            return known.bytes == bytes
                ? nil : "Intent \(intent.id) is sent with another event than was recorded (A1)."
        }
    }
}
