import Foldback
import Foundation

/// The same outbox with GRDB and with Foldback, each with two kinds of durability.
///
/// The sides take turns, so that other load on the machine affects all of them.
struct OutboxComparison {
    private let directory: URL

    init(in directory: URL) { self.directory = directory }

    private static let rounds = 5
    private static let sides = [
        "GRDB FULL", "Foldback durable", "GRDB NORMAL", "Foldback relaxed",
    ]

    func figures() async throws -> [Figure] {
        writeError("writing \(Message.count) messages to each")
        let full = try WithGRDB(at: directory.appending(path: "full.sqlite").path, .full)
        let durable = try await WithFoldback(at: directory.appending(path: "durable"), .durable)
        let normal = try WithGRDB(at: directory.appending(path: "normal.sqlite").path, .normal)
        let relaxed = try await WithFoldback(at: directory.appending(path: "relaxed"), .relaxed)
        let workload = Workload(time: .milliseconds(600))
        var rounds: [[Times]] = []
        for round in 0..<Self.rounds {
            writeError("outbox, round \(round + 1) of \(Self.rounds)")
            var times = Array(repeating: Times(), count: Self.sides.count)
            try await workload.run(full, round: round, &times[0])
            try await workload.run(durable, round: round, &times[1])
            try await workload.run(normal, round: round, &times[2])
            try await workload.run(relaxed, round: round, &times[3])
            rounds.append(times)
        }
        try Self.requireEqual(full, durable, normal, relaxed)
        try full.close()
        await durable.close()
        try normal.close()
        await relaxed.close()
        return Self.sides.indices.flatMap { side in
            rounds.reduce(into: Times()) { $0.add($1[side]) }.figures(of: Self.sides[side])
        } + Self.ratios(rounds)
    }

    /// Checks that all sides read the same messages.
    private static func requireEqual(
        _ full: WithGRDB, _ durable: WithFoldback, _ normal: WithGRDB, _ relaxed: WithFoldback
    ) throws {
        for id in stride(from: 0, to: Message.count, by: Int(Message.count / 50)) {
            let sent = Message.sent(of: id)
            let pages = [
                try full.page(before: sent), try durable.page(before: sent),
                try normal.page(before: sent), try relaxed.page(before: sent),
            ].map { $0.map(\.id) }
            precondition(Set(pages).count == 1, "the pages before \(sent) differ: \(pages)")
        }
    }

    /// GRDB's median time relative to Foldback's, where a power cut undoes nothing.
    private static func ratios(_ rounds: [[Times]]) -> [Figure] {
        Workload.oneAtATime.map { name in
            rounds.map { $0[0].median(of: name) / $0[1].median(of: name) }
                .ratio(of: sides[0], to: sides[1], "\(name), p50")
        }
    }
}
