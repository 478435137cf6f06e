import Foldback
import FoldbackShell
import Foundation
import Testing

/// Born from the question whether the rules F1 to F15 hold for a user of the shell. Each worked
/// history shows a rule, and runs on both storages with documents in memory and as rows.
@Suite struct HistoryTests {
    enum Engine: CaseIterable { case memory, lmdb, memoryRows, lmdbRows }

    @Test(arguments: try History.all(), Engine.allCases)
    func `a worked history gets the answers that it states`(
        history: History, engine: Engine
    ) async throws {
        switch engine {
        case .memory, .lmdb: try await run(history, over: Documents.self, engine == .lmdb)
        case .memoryRows, .lmdbRows:
            try await run(history, over: StoredDocuments.self, engine == .lmdbRows)
        }
    }

    private func run<P: ShownDocuments>(
        _ history: History, over documents: P.Type, _ isOnDisk: Bool
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "foldback-history-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let store =
            isOnDisk
            ? try await Store.open(
                at: directory, documents, confirmedBy: history.kind, durability: .durable,
                replica: history.replica.map { .exactly($0) } ?? .random)
            : Store.inMemory(documents, confirmedBy: history.kind, replica: history.replica)
        let session = ShellSession(over: store)
        for step in history.steps {
            let answer = await session.answer(to: step.send.encoded)
            #expect(
                step.isMet(by: answer), "\(step.send) was answered \(answer), not \(step.expect)")
        }
        await store.close()
    }

    @Test func `the folder has all 28 histories`() throws { #expect(try History.all().count == 28) }
}

/// A worked history: a line with its kind and replica, then lines with a command and the fields
/// that the answer must have.
struct History: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        let send: JSON
        let expect: JSON

        func isMet(by answer: JSON) -> Bool {
            guard let wanted = expect.objectValue else { return false }
            return wanted.members.allSatisfy { name, value in
                name == "error" ? answer[name]?["code"] == value["code"] : answer[name] == value
            }
        }
    }

    let name: String
    let replica: ReplicaID?
    let kind: LogKind
    let steps: [Step]

    var testDescription: String { name }

    static func all() throws -> [History] {
        let folder = try #require(
            Bundle.module.url(forResource: "Histories", withExtension: nil))
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        )
        .filter { $0.pathExtension == "ndjson" }
        .sorted { $0.path < $1.path }
        .map(History.init)
    }

    init(file: URL) throws {
        name = file.deletingPathExtension().lastPathComponent
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { try JSON(parsing: String($0)) }
        replica = lines[0]["replica"]?.stringValue.flatMap { ReplicaID($0) }
        kind = try #require(lines[0]["confirmedBy"]?.stringValue.flatMap(LogKind.init))
        steps = try lines.dropFirst().map { line in
            Step(send: try #require(line["send"]), expect: try #require(line["expect"]))
        }
    }
}
