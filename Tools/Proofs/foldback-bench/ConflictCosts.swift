import Foldback

/// Measures the rejection of an intent on which all later intents depend, with conflicts shared by two projections
/// and per projection: a channel with 50,000 messages.
struct ConflictCosts: Sendable {
    let bench: Workbench

    private static let messageCount = 50_000

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for (name, also) in [
            ("values", AdditionalProjection(Posts.self)),
            ("a value and rows", AdditionalProjection(PostRows.self)),
        ] {
            var times: [[Double]] = [[], []]
            var records: [[Double]] = [[], []]
            for _ in 0..<(bench.isFull ? 7 : 3) {
                for (index, policy) in [ConflictPolicy.perProjection, .shared].enumerated() {
                    let (record, reject) = try await Self.run(also, policy)
                    records[index].append(record)
                    times[index].append(reject)
                }
            }
            for (index, policy) in ["per projection", "shared"].enumerated() {
                let what = "\(name), conflicts \(policy)"
                figures.append(
                    records[index].quartered("recording a message, \(what)", unit: "us"))
                figures.append(
                    times[index].quartered("rejecting the channel, \(what)", unit: "ms"))
            }
            figures.append(
                zip(times[1], times[0]).map { $0 / $1 }.quartered(
                    "rejecting the channel, \(name), shared / per projection", unit: "times"))
        }
        return figures
    }

    /// Returns the microseconds for each message, and the milliseconds for the rejection.
    private static func run(
        _ also: AdditionalProjection<Post>, _ policy: ConflictPolicy
    ) async throws -> (record: Double, reject: Double) {
        let store = Store.inMemory(
            Rooms.self, also: [also], conflicts: policy, confirmedBy: .downlink)
        let clock = ContinuousClock()
        _ = try await store.record(.created(room: 1))
        let recording = try await clock.measure {
            for number in 1...messageCount {
                _ = try await store.record(.posted(room: 1, message: number))
            }
        }
        let rejecting = try await clock.measure { try await store.reject(1, message: "no") }
        precondition(store.snapshot.conflicted.count == messageCount)
        await store.close()
        return (
            recording / .microseconds(1) / Double(messageCount), rejecting / .milliseconds(1)
        )
    }
}

/// Messages in rooms.
enum Post: Codable, Sendable {
    case created(room: Int)
    case posted(room: Int, message: Int)
}

/// The rooms with their counts of messages. They refuse a message without its room.
struct Rooms: Projection, Codable {
    private var counts: [Int: Int] = [:]

    struct NoRoom: Error {}

    mutating func apply(_ event: Post, _ context: EventContext) throws {
        switch event {
        case .created(let room): counts[room] = 0
        case .posted(let room, _):
            guard let count = counts[room] else { throw NoRoom() }
            counts[room] = count + 1
        }
    }
}

/// The newest message of each room, as a value. It takes every message.
struct Posts: Projection, Codable {
    private var newest: [Int: Int] = [:]

    mutating func apply(_ event: Post, _ context: EventContext) {
        if case .posted(let room, let message) = event { newest[room] = message }
    }
}

/// The messages as rows. They take every message.
struct PostRows: StoredProjection {
    static let messages = RowTable("messages", key: Int.self, row: Int.self)
    static let schema = RowSchema(messages)

    static func apply(
        _ event: Post, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .posted(let room, let message) = event else { return }
        try rows.put(room, at: message, in: messages)
    }
}
