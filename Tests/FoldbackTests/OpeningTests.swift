import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Question: what does a user see if a log cannot be opened, and what do opening and a commit
/// change in a log (L1, L2, L4, L7 to L11)?
@Suite struct OpeningTests {
    let directory = TemporaryDirectory()

    private func open(
        _ keeper: BoardKeeper = .memory, _ kind: LogKind = .downlink, replica: String? = nil
    ) async throws(LogError) -> any BoardStore {
        try await keeper.open(at: directory.log, kind, replica: replica)
    }

    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    @Test func `L8: a second store on a log is refused with an error that names the holder`()
        async throws
    {
        let store = try await open()
        let second = await error { () throws(LogError) in try await open() }
        guard case .locked(_, holder: .thisProcess) = second else {
            Issue.record("\(String(describing: second))")
            return
        }
        #expect(second?.description.contains("this process has it open already") == true)
        #expect(second?.description.contains(directory.log.path) == true)
        await store.close()
        await (try open()).close()
    }

    @Test func `F2: a log's kind is fixed when the log is created`() async throws {
        await (try open(.memory, .downlink)).close()
        let other = await error { () throws(LogError) in
            try await open(.rows, .acknowledgement)
        }
        guard case .kindDiffers(_, existing: .downlink, asked: .acknowledgement) = other else {
            Issue.record("\(String(describing: other))")
            return
        }
    }

    @Test func `a path to a file or to another program's data is refused and left unchanged`()
        async throws
    {
        let bytes = Data("not a log".utf8)
        try bytes.write(to: directory.log)
        let file = await error { () throws(LogError) in try await open() }
        guard case .notALog = file else {
            Issue.record("\(String(describing: file))")
            return
        }
        #expect(try Data(contentsOf: directory.log) == bytes)
        try FileManager.default.removeItem(at: directory.log)
        try FileManager.default.createDirectory(
            at: directory.log, withIntermediateDirectories: false)
        try Data(repeating: 7, count: 20_000).write(to: dataFile)
        let foreign = await error { () throws(LogError) in try await open() }
        guard case .notALog = foreign else {
            Issue.record("\(String(describing: foreign))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == Data(repeating: 7, count: 20_000))
    }

    @Test func `another program's LMDB file is refused and left unchanged`() async throws {
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let table: Table<String> = try transaction.table("theirs")
            try transaction.put([1], at: "k", in: table)
        }
        environment.close()
        let before = try Data(contentsOf: dataFile)
        let foreign = await error { () throws(LogError) in try await open() }
        guard case .notALog = foreign else {
            Issue.record("\(String(describing: foreign))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `L10: opening repeats a creation that a full disk interrupted`() async throws {
        await (try open()).close()
        let whole = try Data(contentsOf: dataFile)
        let zeros = Data(repeating: 0, count: 8_192)
        let rests = [
            Data(), whole.prefix(4_096), zeros, whole.prefix(4_096) + zeros.prefix(4_096),
            zeros + whole.dropFirst(8_192), zeros.prefix(4_096) + zeros.prefix(4_096),
        ]
        for rest in rests {
            // No store has written to the log before its first opening has ended.
            try? FileManager.default.removeItem(at: directory.log.appending(path: "mark"))
            try rest.write(to: dataFile)
            // Nothing can be read from it, and an import may fill it.
            let reader = await error { () throws(LogError) in
                try LogReader(at: directory.log)
            }
            guard case .missing = reader else {
                Issue.record("\(String(describing: reader))")
                return
            }
            let store = try await open()
            #expect(store.status.sequence == 0)
            await store.close()
            // What is not only meta pages is kept, in case it is not what it looks like.
            let kept = directory.log.appending(path: "data.mdb.unfinished")
            let isMore = rest.dropFirst(8_192).contains { $0 != 0 }
            #expect(FileManager.default.fileExists(atPath: kept.path) == isMore)
            if isMore { #expect(try Data(contentsOf: kept) == rest) }
            try? FileManager.default.removeItem(at: kept)
        }
        let foreign = Data("short, and somebody's".utf8)
        try foreign.write(to: dataFile)
        let refused = await error { () throws(LogError) in try await open() }
        guard case .notALog = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == foreign)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L9: reading a log changes no byte and creates no file`(keeper: BoardKeeper)
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let manager = FileManager.default
        for name in ["lock.mdb", "writer.pid", "mark"] {
            try manager.removeItem(at: directory.log.appending(path: name))
        }
        let before = try Data(contentsOf: dataFile)
        let reader = try LogReader(at: directory.log)
        let status = try reader.status()
        #expect(try reader.entries(from: 1, countMax: 100).count == 5)
        reader.close()
        #expect(status.pendingCount == 1)
        #expect(status.acceptedCount == 1)
        #expect(status.rejectedCount == 1)
        #expect(status.nextIntent == 4)
        #expect(try Data(contentsOf: dataFile) == before)
        #expect(try manager.contentsOfDirectory(atPath: directory.log.path) == ["data.mdb"])
    }

    @Test func `a reader reports a missing log and does not create it`() {
        let missing = #expect(throws: LogError.self) { try LogReader(at: directory.log) }
        guard case .missing = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: directory.log.path))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: a copied log takes a fresh replica id, and a moved log keeps its own`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let moved = directory.url.appending(path: "moved", directoryHint: .isDirectory)
        try FileManager.default.moveItem(at: directory.log, to: moved)
        try FileManager.default.moveItem(at: moved, to: directory.log)
        var store = try await open(keeper, replica: "ignored")
        #expect(store.status.replica == ReplicaID("me"))
        await store.close()
        try FileManager.default.copyItem(at: directory.log, to: moved)
        try FileManager.default.removeItem(at: directory.log)
        try FileManager.default.moveItem(at: moved, to: directory.log)
        store = try await open(keeper, replica: "ignored")
        let fresh = store.status.replica
        #expect(fresh != ReplicaID("me"))
        #expect(fresh != ReplicaID("ignored"))
        // Earlier intents keep their ids, and the numbers continue.
        #expect(store.overlay.map(\.id.replica) == [ReplicaID("me"), ReplicaID("me")])
        let next = try await store.record(.set("d", 1))
        #expect(next.id == IntentID(replica: fresh, number: 4))
        await store.close()
        store = try await open(keeper)
        #expect(store.status.replica == fresh)
        let mine = IntentID(replica: ReplicaID("me")!, number: 4)
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("e", 1), origin: mine)])
        #expect(try store.intent(4).state == .pending, "number 4 of another replica is foreign")
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: a restored log takes a fresh replica id, however it was restored`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let backup = directory.url.appending(path: "backup", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: backup)
        // The log uses numbers after the backup was made.
        var store = try await open(keeper)
        _ = try await store.record(.set("later", 1))
        await store.close()
        let ways: [(String, [String])] = [
            ("only the data file, overwritten in place", ["cp", "data.mdb"]),
            ("all files, overwritten in place", ["cp", "data.mdb", "lock.mdb", "mark"]),
            ("only the data file, moved into place", ["mv", "data.mdb"]),
        ]
        var seen: Set<ReplicaID> = [try await replica(keeper)]
        #expect(seen == [ReplicaID("me")!])
        for (way, command) in ways {
            for name in command.dropFirst() {
                // The marker file is empty, and reading an empty file leaks memory in Foundation.
                let bytes =
                    name == "mark" ? Data() : try Data(contentsOf: backup.appending(path: name))
                try bytes.write(
                    to: directory.log.appending(path: name),
                    options: command[0] == "mv" ? .atomic : [])
            }
            store = try await open(keeper)
            let fresh = store.status.replica
            #expect(seen.insert(fresh).inserted, "\(way)")
            #expect(try await store.record(.set("again", 1)).id.replica == fresh)
            await store.close()
            #expect(try await replica(keeper) == fresh, "the log lost its fresh id: \(way)")
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: a process that ends between commit and marker file keeps its replica id`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let mark = directory.log.appending(path: "mark")
        let store = try await open(keeper)
        // A link keeps the old marker file while the store puts a new one in its place.
        let link = directory.url.appending(path: "link")
        try FileManager.default.linkItem(at: mark, to: link)
        _ = try await store.record(.set("later", 1))
        await store.close()
        try FileManager.default.removeItem(at: mark)
        try FileManager.default.moveItem(at: link, to: mark)
        #expect(try await replica(keeper) == ReplicaID("me"))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: repeated process ends between commit and marker file keep the replica id`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let mark = directory.log.appending(path: "mark")
        let link = directory.url.appending(path: "link")
        try FileManager.default.linkItem(at: mark, to: link)
        for _ in 1...3 {
            let store = try await open(keeper)
            _ = try await store.record(.set("later", 1))
            await store.close()
            try FileManager.default.removeItem(at: mark)
            try FileManager.default.linkItem(at: link, to: mark)
        }
        #expect(try await replica(keeper) == ReplicaID("me"))
    }

    private func replica(_ keeper: BoardKeeper) async throws -> ReplicaID {
        let store = try await open(keeper)
        let replica = store.status.replica
        await store.close()
        return replica
    }

    /// Returns the number of the last commit. LMDB writes it to its two meta pages by turns.
    private func lastCommit() throws -> UInt64 {
        let file = try FileHandle(forReadingFrom: dataFile)
        defer { try? file.close() }
        func number<N: FixedWidthInteger & BitwiseCopyable>(at offset: UInt64) throws -> N {
            try file.seek(toOffset: offset)
            let bytes = try file.read(upToCount: MemoryLayout<N>.size) ?? Data()
            return try #require(
                bytes.count == MemoryLayout<N>.size
                    ? bytes.withUnsafeBytes { $0.loadUnaligned(as: N.self) } : nil)
        }
        // The machine that created the file chose the page size. Read mm_psize of MDB_meta, and
        // then mm_txnid of both pages.
        let pageSize: UInt32 = try number(at: 40)
        return max(try number(at: 144), try number(at: UInt64(pageSize) + 144))
    }

    /// This includes the rows and their sequence: one commit writes all tables.
    @Test(arguments: BoardKeeper.allCases, LogKind.allCases)
    func `L4: a command is exactly one commit, whatever it changes`(
        keeper: BoardKeeper, kind: LogKind
    ) async throws {
        let store = try await open(keeper, kind)
        // The first write also identifies the file (L11).
        _ = try await store.record(.set("first", 1))
        var last = try lastCommit()
        func requireOneCommit(_ command: String) throws {
            let now = try lastCommit()
            #expect(now == last + 1, "\(command)")
            last = now
        }
        for round in 0..<8 as Range<UInt64> {
            let first = IntentNumber(2 * round + 2)
            _ = try await store.record(.set("a", Int(round)))
            try requireOneCommit("recording")
            _ = try await store.record(.set("b", 1))
            try requireOneCommit("recording")
            try await store.acknowledge(first, position: kind == .downlink ? 100 : nil)
            try requireOneCommit("acknowledging")
            try await store.reject(first.next)
            try requireOneCommit("rejecting")
            guard kind == .downlink else { continue }
            try await store.confirm(
                [ConfirmedEvent(position: Position(round + 1), event: .set("c", Int(round)))])
            try requireOneCommit("confirming")
        }
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L4: an entry and the verdict that it changes are written together`(
        keeper: BoardKeeper
    ) async throws {
        let store = try await open(keeper)
        for number in 1...20 as ClosedRange<UInt64> {
            _ = try await store.record(.set("a", 1))
            try await store.reject(IntentNumber(number))
        }
        await store.close()
        let environment = try Environment.open(directory.log.path)
        let counts = try environment.read { transaction throws(LMDBError) -> (Int, Int) in
            let entries: Table<UInt64> = try transaction.table("entries")!
            let verdicts: Table<UInt64> = try transaction.table("verdicts")!
            return (try transaction.count(of: entries), try transaction.count(of: verdicts))
        }
        environment.close()
        #expect(counts == (40, 20))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L1: sequences and intent numbers continue after reopening`(keeper: BoardKeeper)
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let store = try await open(keeper)
        let receipt = try await store.record(.set("d", 1))
        #expect(receipt.sequence == 6)
        #expect(receipt.number == 4)
        await store.close()
    }

    @Test func `L2: relaxed and durable stores write the same log`() async throws {
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        _ = try await store.record(.set("a", 1))
        try await store.flush()
        await store.close()
        let reopened = try await open()
        #expect(try reopened.cells == ["a": 1])
        await reopened.close()
    }

    @Test func `L7: the map grows without a size from the app`() async throws {
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        let text = JSON.string(String(repeating: "x", count: 1 << 20))
        for number in 0..<100 { _ = try await store.record(.set("k\(number % 3)", text)) }
        #expect(store.status.bytesOnDisk > 100 << 20)
        await store.close()
    }
}

extension BoardKeeper {
    /// Writes a log of five entries with a pending, an accepted, and a rejected intent.
    func fillLog(at log: URL) async throws {
        let store = try await open(at: log, replica: "me")
        _ = try await store.record(.set("a", 1))
        let second = try await store.record(.set("b", 1))
        try await store.acknowledge(second.number)
        let third = try await store.record(.set("c", 1))
        try await store.reject(third.number)
        await store.close()
    }
}
