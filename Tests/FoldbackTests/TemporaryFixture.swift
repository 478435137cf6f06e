import Foldback
import Foundation
import TestSupport
import Testing

@Suite struct TemporaryFixture {
    @Test func `write`() async throws {
        let url = URL(filePath: "/tmp/fixture-undo", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: url)
        let store = try await Store.open(
            at: url, Documents.self, confirmedBy: .downlink, durability: .durable,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!), sources: .counting())
        func set(_ key: String, _ value: Int) -> DocumentEvent {
            .set(ExactString(key), .integer(Int64(value)))
        }
        func send(_ number: IntentNumber) async throws {
            _ = try await store.recordAttempts(
                [number: Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 1))],
                flushes: true)
        }
        try await store.record(set("a", 1))  // 1
        try await store.record(contentsOf: [set("b", 1), set("c", 1)])  // 2, 3
        try await store.record(set("d", 1), replacing: "field")  // 4
        try await store.record(set("d", 2), replacing: "field")  // 5
        try await store.record(set("e", 1), held: true)  // 6
        try await store.record(set("f", 1), held: true)  // 7
        try await store.release(7)
        try await store.undo(2)
        try await store.redo(2)  // 8, 9
        try await send(1)
        try await store.undo(1)  // 10
        try await store.reject(1, message: "no")
        try await store.checkpoint()
        try await send(5)
        try await store.undo(5)  // 11
        try await store.abandon(5)
        try await store.acknowledge(5, position: 3)
        await store.close()
    }
}
