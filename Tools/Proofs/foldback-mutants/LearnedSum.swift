import Foldback
import Foundation

/// What an edition of an app can read.
protocol NumberLimit: Sendable {
    static var max: Int { get }
}

enum OldLimit: NumberLimit { static let max = 9 }
enum NewLimit: NumberLimit { static let max = 1_000 }

/// A sum of numbers. An old edition reads small numbers only.
struct LearnedSum<Limit: NumberLimit>: Projection, Codable {
    var sum = 0

    static var name: String { "LearnedSum" }
    static var codec: any EventCodec<Int> { Numbers() }

    mutating func apply(_ number: Int, _ context: EventContext) { sum += number }

    private struct Numbers: EventCodec {
        let format = EventFormat.json

        func encode(_ number: Int) throws -> [UInt8] { Array("\(number)".utf8) }

        func decode(_ bytes: RawSpan, format: EventFormat) throws -> Int {
            let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            guard let number = Int(text), number <= Limit.max else {
                throw CocoaError(.coderReadCorrupt)
            }
            return number
        }
    }
}

extension LearnedSum where Limit == NewLimit {
    /// Fills a log with the old edition, with a checkpoint after each entry, and opens it with the
    /// new edition. The second of seven entries has a number that only the new edition reads.
    static func reopened(_ log: URL) async throws -> Store<LearnedSum<NewLimit>> {
        let old = try await Store.open(
            at: log, LearnedSum<OldLimit>.self, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual)
        for (index, number) in [1, 100, 1, 1, 1, 1, 1].enumerated() {
            try await old.confirm([
                ConfirmedEvent(
                    position: Position(UInt64(index + 1)),
                    recorded: RecordedEvent(format: .json, bytes: Array("\(number)".utf8)))
            ])
            try await old.checkpoint()
        }
        await old.close()
        return try await Store.open(
            at: log, LearnedSum<NewLimit>.self, confirmedBy: .downlink, durability: .relaxed)
    }
}
