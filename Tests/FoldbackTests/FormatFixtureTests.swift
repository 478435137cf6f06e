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

    /// A log that was compacted to its last 12 entries, with an intent in each state before its base.
    @Test func `C1: a store opens a compacted log`() async throws {
        let directory = TemporaryDirectory()
        try Self.copy("format-2-downlink", to: directory)
        let store = try await Store.open(
            at: directory.log, Documents.self,
            also: [AdditionalProjection(StoredDocuments.self)], confirmedBy: .downlink,
            durability: .relaxed)
        #expect(store.status.base == 30 && store.status.sequence == 42)
        #expect(store.view.json == ["c": 30, "k1": 1, "k6": 6, "k7": 7, "k8": 8])
        #expect(store.snapshot.pending == [1, 7, 8])
        #expect(try store.intent(2).rejection?.message == "not yours")
        #expect(try store.intent(5).state == .withdrawn)
        let gone = await error { () throws(LogError) in _ = try store.intent(6) }
        guard case .compactedIntent(6, .confirmed) = gone else {
            Issue.record("\(String(describing: gone))")
            return
        }
        // A screen that asks what became of it gets the answer.
        let known = try store.core.status(of: 6)
        #expect(known.id == IntentID(replica: ReplicaID("me")!, number: 6))
        #expect(known.answer?.content == .confirmed && known.recorded == nil)
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
    }

    /// Code of format 1 compares the first two bytes of the header, and says `.newerFormat`.
    @Test func `C1: older code does not open a compacted log`() throws {
        let replicas = ReplicaTable([ReplicaID("me")!])
        var header = LogHeader(kind: .downlink, replicas: replicas, file: .none)
        #expect(header.encoded().prefix(2) == [1, 0])
        header.isCompacted = true
        #expect(header.encoded().prefix(2) == [2, 0])
        #expect(try LogHeader(decoding: header.encoded()).isCompacted)
    }

    /// Property: a flipped bit anywhere in a compacted log is an error, a finding, or no harm.
    @Test func `C7: damage in a compacted log never gives another view`() throws {
        let bytes = try Data(contentsOf: Self.fixture("format-2-downlink", "lmdb"))
        let seed = testSeed("damage in a compacted log", variable: "DAMAGE_SEED")
        var random = SeededGenerator(seed: seed)
        let directory = TemporaryDirectory()
        try Self.copy("format-2-downlink", to: directory)
        let file = directory.log.appending(path: "data.mdb")
        let sound = try Self.seen(directory.log)
        #expect(sound != nil)
        var findings = 0
        for _ in 0..<TestEffort.value(quick: 400, full: 20_000) {
            var damaged = bytes
            let place = Int.random(in: 0..<bytes.count, using: &random)
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try damaged.write(to: file)
            let seen: [String]?
            do throws(LogError) { seen = try Self.seen(directory.log) } catch {
                switch error {
                case .damaged, .newerFormat, .notALog: seen = nil
                default: throw error
                }
            }
            if seen == nil { findings += 1 }
            #expect(seen == nil || seen == sound, "seed \(seed), byte \(place)")
        }
        print("\(findings) bits were found")
    }

    /// Returns what a sound log shows; nil if a verification finds something.
    private static func seen(_ log: URL) throws(LogError) -> [String]? {
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let verification = try reader.verify(
            Documents.self, also: [AdditionalProjection(StoredDocuments.self)])
        guard verification.isSound else { return nil }
        let status = try reader.status()
        let snapshot = try reader.snapshot(of: Documents.self, at: status.sequence)
        return [
            "\(snapshot.view.json) \(snapshot.confirmed.json) \(snapshot.pending)",
            "\(status.base) \(status.sequence) \(status.rejectedCount) \(status.nextIntent)",
        ]
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
        // The file is a copy, so its intents count as sent (BK2).
        #expect(try await store.redo(5).recorded.count == 1)
        #expect(try await store.undo(9).recorded.count == 2)
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
