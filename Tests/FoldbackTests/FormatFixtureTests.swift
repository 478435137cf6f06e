import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// Question: does a log of every released format open and read correctly?
///
/// The code of each format wrote the files in `Fixtures`. The text file beside each log has the
/// content that this code read.
@Suite struct FormatFixtureTests {
    static let fixtures = [
        "format-1-downlink", "format-1-acknowledgement", "format-1-downlink-registered",
        "format-1-downlink-unread",
    ]

    private static func fixture(_ name: String, _ suffix: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/\(name).\(suffix)")
    }

    /// Creates the log directory with a copy of a fixture's data file.
    private static func copy(_ name: String, to directory: TemporaryDirectory) throws {
        try FileManager.default.createDirectory(
            at: directory.log, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: fixture(name, "lmdb"), to: directory.log.appending(path: "data.mdb"))
    }

    @Test(arguments: fixtures)
    func `a store opens a log of this format with the same content`(_ name: String) async throws {
        let directory = TemporaryDirectory()
        try Self.copy(name, to: directory)
        let kind = try #require(LogKind(rawValue: String(name.split(separator: "-")[2])))
        let store = try await Store.open(
            at: directory.log, Documents.self,
            also: [AdditionalProjection(StoredDocuments.self)], confirmedBy: kind,
            durability: .durable,
            onCatchUp: { Issue.record("rows were folded again up to \($0.sequence)") })
        #expect(store.replayStart.checkpoint == 11)
        #expect(store.replayStart.refused.isEmpty)
        // The checkpoint of this log lacks events that cannot be read, and its batches mix formats.
        let firstUnread: LogSequence? = name.hasSuffix("unread") ? 10 : nil
        #expect(store.core.storage.storedCheckpoint(at: 11)?.firstUnread == firstUnread)
        let rows = try store.projected(StoredDocuments.self).read { try $0.documents() }
        #expect(rows == store.view.json)
        let expected = try String(contentsOf: Self.fixture(name, "expected"), encoding: .utf8)
        #expect(try Self.content(of: store) == expected)
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
    }

    /// A log with each term of an intent, and with the entries of undo and of drafts (F16, F20 to F22).
    @Test func `a store opens a log with drafts and undone intents`() async throws {
        let directory = TemporaryDirectory()
        try Self.copy("format-1-downlink-undo", to: directory)
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(store.replayStart.checkpoint == 15 && store.replayStart.refused.isEmpty)
        #expect(store.view.json == ["b": 1, "c": 1, "e": 1, "f": 1])
        #expect(store.snapshot.pending == [6, 7, 8, 9, 11] && store.snapshot.accepted == [5])
        #expect(store.rejections == [1] && store.core.published.drafts.held == [6])
        #expect(store.overlay.map(\.undoes) == [nil, nil, nil, 2, 3, 5])
        #expect(store.overlay.map(\.group) == [nil, nil, nil, 2, 2, nil])
        let changes = try store.entries(from: 1, countMax: 100).compactMap { entry in
            if case .changed(_, let change) = entry.content { change.kind } else { nil }
        }
        #expect(
            changes == [
                .released, .undone, .undone, .rejected, .lapsed, .abandoned, .lapsed, .restored,
            ])
        // What the file says goes on: the intent was undone, and its undoing was never sent.
        #expect(try await store.undo(5).ignored == .accepted)
        #expect(try await store.redo(5).withdrawn == [11])
        #expect(try await store.undo(9).withdrawn == [9, 8])
        #expect(store.view.json == ["d": 2, "e": 1, "f": 1])
        #expect(try await store.verify().isSound)
        await store.close()
    }

    /// Unlike a store, a reader never changes the file (L9).
    @Test(arguments: fixtures)
    func `a reader reads a log of this format and changes no byte`(_ name: String) throws {
        let directory = TemporaryDirectory()
        try Self.copy(name, to: directory)
        let reader = try LogReader(at: directory.log)
        let expected = try String(contentsOf: Self.fixture(name, "expected"), encoding: .utf8)
        let entries = try reader.entries(from: 1, countMax: 100).map { Self.line(of: $0.json) }
        #expect(expected.hasSuffix(entries.joined()))
        reader.close()
        #expect(
            try Data(contentsOf: directory.log.appending(path: "data.mdb"))
                == Data(contentsOf: Self.fixture(name, "lmdb")))
    }

    /// Logs from before table `registered` have no notes.
    @Test(arguments: fixtures)
    func `the projections of a log of this format are read`(_ name: String) throws {
        let directory = TemporaryDirectory()
        try Self.copy(name, to: directory)
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        let names = try log.registeredProjections().map(\.identity.name)
        let documents = Documents.identity.name
        let expected: [String: [ExactString]] = [
            "registered": [StoredDocuments.identity.name],
            "unread": [documents, StoredDocuments.identity.name],
        ]
        let suffix = String(name.split(separator: "-").last ?? "")
        #expect(names == expected[suffix, default: []])
    }

    /// Returns the content of the store in the form of the expected text files.
    private static func content(of store: Store<Documents>) throws -> String {
        func list(_ numbers: some Sequence<IntentNumber>) -> JSON {
            .array(numbers.map { .of($0) })
        }
        let snapshot = store.snapshot
        var lines = [
            "view \(snapshot.view.json)", "confirmed \(snapshot.confirmed.json)",
            "pending \(list(snapshot.pending))", "accepted \(list(snapshot.accepted))",
            "conflicted \(list(snapshot.conflicted))", "rejections \(list(store.rejections))",
            "faults \(snapshot.faults.count)", "attempts \(list(store.attempts.keys.sorted()))",
        ]
        for number in 1...8 {
            let intent = try store.intent(IntentNumber(UInt64(number)))
            let state = intent.state.rawValue + (intent.isDismissed ? " dismissed" : "")
            lines.append("intent \(number) \(JSON.string(ExactString(state)))")
        }
        let entries = try store.entries(from: 1, countMax: 100).map { line(of: $0.json) }
        return lines.joined(separator: "\n") + "\n" + entries.joined()
    }

    /// Returns the line of an entry, without the entry's time.
    private static func line(of entry: JSON) -> String {
        guard case .object(var object) = entry else { return "\(entry)" }
        object["at"] = nil
        return "entry \(JSON.object(object))\n"
    }
}
