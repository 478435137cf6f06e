import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// What a user sees when a log cannot be opened, and what opening does to a log (L1, L8 to L11).
@Suite struct OpeningTests {
    let directory = TemporaryDirectory()

    private func open(
        _ keeper: BoardKeeper = .memory, _ kind: LogKind = .downlink, replica: String? = nil
    ) async throws(FoldbackError) -> any BoardStore {
        try await keeper.open(at: directory.log, kind, replica: replica)
    }

    /// A log with an accepted, a settled and a pending intent.
    private func fill(_ keeper: BoardKeeper) async throws {
        let store = try await open(keeper, replica: "me")
        _ = try await store.record(.set("a", 1))
        let second = try await store.record(.set("b", 1))
        try await store.acknowledge(second.number)
        let third = try await store.record(.set("c", 1))
        try await store.reject(third.number)
        await store.close()
    }

    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    @Test func `L8: a second store on a log gets a typed error that says who has it`() async throws
    {
        let store = try await open()
        let second = await error { () throws(FoldbackError) in try await open() }
        guard case .locked(_, holder: .thisProcess) = second else {
            Issue.record("\(String(describing: second))")
            return
        }
        #expect(second?.description.contains("this process has it open already") == true)
        #expect(second?.description.contains(directory.log.path) == true)
        await store.close()
        await (try open()).close()
    }

    @Test func `F2: the kind is fixed when a log is created`() async throws {
        await (try open(.memory, .downlink)).close()
        let other = await error { () throws(FoldbackError) in
            try await open(.rows, .acknowledgement)
        }
        guard case .kindDiffers(_, existing: .downlink, asked: .acknowledgement) = other else {
            Issue.record("\(String(describing: other))")
            return
        }
    }

    @Test func `a path that is a file, or another program's, is refused and left alone`()
        async throws
    {
        let bytes = Data("not a log".utf8)
        try bytes.write(to: directory.log)
        let file = await error { () throws(FoldbackError) in try await open() }
        guard case .notALog = file else {
            Issue.record("\(String(describing: file))")
            return
        }
        #expect(try Data(contentsOf: directory.log) == bytes)
        try FileManager.default.removeItem(at: directory.log)
        try FileManager.default.createDirectory(
            at: directory.log, withIntermediateDirectories: false)
        try Data(repeating: 7, count: 20_000).write(to: dataFile)
        let foreign = await error { () throws(FoldbackError) in try await open() }
        guard case .notALog = foreign else {
            Issue.record("\(String(describing: foreign))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == Data(repeating: 7, count: 20_000))
    }

    @Test func `another program's LMDB file is refused and left alone`() async throws {
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let table: Table<String> = try transaction.table("theirs")
            try transaction.put([1], at: "k", in: table)
        }
        environment.close()
        let before = try Data(contentsOf: dataFile)
        let foreign = await error { () throws(FoldbackError) in try await open() }
        guard case .notALog = foreign else {
            Issue.record("\(String(describing: foreign))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == before)
    }

    /// Puts a record or header of the test's own into the log.
    private func forge(_ bytes: [UInt8], at sequence: UInt64?) throws {
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            if let sequence {
                let entries: Table<UInt64> = try transaction.table("entries")
                try transaction.put(bytes, at: sequence, in: entries)
            } else {
                let log: Table<String> = try transaction.table("log")
                try transaction.put(bytes, at: LogHeader.key, in: log)
            }
        }
        environment.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a log of a newer format is refused, and nothing is lost`(keeper: BoardKeeper)
        async throws
    {
        try await fill(keeper)
        var newer = ByteWriter()
        newer.fixed(LogHeader.format + 1)
        _ = newer.seal(seed: 0)
        try forge(newer.bytes, at: nil)
        let before = try Data(contentsOf: dataFile)
        let refused = await error { () throws(FoldbackError) in try await open(keeper) }
        guard case .newerFormat = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: an entry of a newer kind is not folded past`(keeper: BoardKeeper) async throws {
        try await fill(keeper)
        var newer = ByteWriter()
        newer.fixed(1 as UInt8)
        newer.fixed(40 as UInt8)
        _ = newer.seal(seed: 6)
        try forge(newer.bytes, at: 6)
        let refused = await error { () throws(FoldbackError) in try await open(keeper) }
        guard case .newerFormat(_, sequence: 6, found: "entry kind 40") = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: damage names the sequence, and is never skipped`(keeper: BoardKeeper) async throws {
        try await fill(keeper)
        try forge([1, 2, 3], at: 3)
        let damaged = await error { () throws(FoldbackError) in try await open(keeper) }
        guard case .damaged(_, sequence: 3, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
        let reader = try LogReader(at: directory.log)
        #expect(throws: FoldbackError.self) { try reader.status() }
        #expect(try reader.entries(from: 1, countMax: 2).count == 2)
        reader.close()
    }

    @Test func `L5: rows that are ahead of their log are damage`() async throws {
        try await expectDamage(.rows, at: 5)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: records that are missing are damage`(keeper: BoardKeeper) async throws {
        try await expectDamage(keeper, at: 3)
    }

    /// Opening a log of five entries names the one that is gone.
    private func expectDamage(_ keeper: BoardKeeper, at sequence: LogSequence) async throws {
        try await fill(keeper)
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            _ = try transaction.delete(sequence.value, from: entries)
        }
        environment.close()
        let damaged = await error { () throws(FoldbackError) in try await open(keeper) }
        guard case .damaged(_, sequence: sequence, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a file that was cut off is damage, not the end of the process`(keeper: BoardKeeper)
        async throws
    {
        try await fill(keeper)
        let size = try Data(contentsOf: dataFile).count
        for left in stride(from: size - 1, to: 8_192, by: -4_096) {
            let handle = try FileHandle(forWritingTo: dataFile)
            try handle.truncate(atOffset: UInt64(left))
            try handle.close()
            let cutOff = await error { () throws(FoldbackError) in try await open(keeper) }
            guard case .damaged = cutOff else {
                Issue.record("\(left) of \(size) bytes: \(String(describing: cutOff))")
                return
            }
        }
    }

    @Test func `L10: a first open that a full disk cut off is made again`() async throws {
        await (try open()).close()
        let whole = try Data(contentsOf: dataFile)
        for rest in [Data(), whole.prefix(4_096), Data(repeating: 0, count: 8_192)] {
            try rest.write(to: dataFile)
            let store = try await open()
            #expect(store.status.sequence == 0)
            await store.close()
        }
        let foreign = Data("short, and somebody's".utf8)
        try foreign.write(to: dataFile)
        let refused = await error { () throws(FoldbackError) in try await open() }
        guard case .notALog = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == foreign)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a log that was cut off at its first pages is not made again`(keeper: BoardKeeper)
        async throws
    {
        try await fill(keeper)
        let whole = try Data(contentsOf: dataFile)
        for rest in [whole.prefix(4_096), Data(repeating: 0, count: 8_192)] {
            try rest.write(to: dataFile)
            let refused = await error { () throws(FoldbackError) in try await open(keeper) }
            #expect(refused != nil)
            #expect(try Data(contentsOf: dataFile) == rest)
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: meta pages that change under an open store are damage, not the end of time`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await fill(keeper)
        let store = try await open(keeper)
        let handle = try FileHandle(forWritingTo: dataFile)
        // The commits' numbers: neither page names the last one any more.
        for page in [0, 1] as [UInt64] {
            try handle.seek(toOffset: page * 4_096 + 144)
            try handle.write(contentsOf: Data(repeating: 7, count: 8))
        }
        try handle.close()
        #expect(throws: FoldbackError.self) { try store.entries(from: 1, countMax: 1) }
        switch keeper {
        case .memory: #expect(try store.cells["a"] == 1)
        case .rows: #expect(throws: FoldbackError.self) { try store.cells }
        }
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: entries that contradict one another are damage`(keeper: BoardKeeper) async throws {
        try await fill(keeper)
        let replicas = ReplicaTable([ReplicaID("me")!])
        let forged: [(Entry, String)] = [
            (.changed(3, .withdrawn), "intent 3 is not pending"),
            (.changed(1, .dismissed), "not in the list"),
            (.changed(9, .rejected(Rejection(message: ""))), "not pending"),
            (
                .acknowledged(
                    Acknowledged(number: 2, position: 7, replacement: nil, settles: false)),
                "accepted already"
            ),
            (
                .acknowledged(
                    Acknowledged(number: 1, position: 7, replacement: nil, settles: true)),
                "should be accepted"
            ),
            (.confirmed(ConfirmedBatch(events: [], through: 1, settled: [2, 2])), "twice"),
            (.confirmed(ConfirmedBatch(events: [], through: 1, settled: [8])), "never recorded"),
        ]
        let log = try LMDBLog.openReadOnly(directory.log.path)
        var fold = LogFold(of: log, folds: [])
        try fold.replay(log, codec: RawCodec())
        let chain = fold.chain
        log.close()
        for (entry, words) in forged {
            let record = Record(
                stamp: Stamp(sequence: 6, time: Timestamp(millisecondsSince1970: 0)),
                replica: ReplicaID("me")!, info: [:], entry: entry)
            try forge(record.encoded(predecessor: chain, replicas: replicas).bytes, at: 6)
            let damaged = await error { () throws(FoldbackError) in try await open(keeper) }
            guard case .damaged(_, sequence: 6, let reason) = damaged else {
                Issue.record("\(entry): \(String(describing: damaged))")
                continue
            }
            #expect(reason.contains(words))
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L9: looking at a log leaves every byte and creates nothing`(keeper: BoardKeeper)
        async throws
    {
        try await fill(keeper)
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

    @Test func `a log that is not there is missing to a reader, and is not made`() {
        let missing = #expect(throws: FoldbackError.self) { try LogReader(at: directory.log) }
        guard case .missing = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: directory.log.path))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: a copied log takes a fresh replica id, a moved one keeps it`(keeper: BoardKeeper)
        async throws
    {
        try await fill(keeper)
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
        // Intents recorded before keep their id; numbers go on.
        #expect(store.overlay.map(\.id.replica) == [ReplicaID("me"), ReplicaID("me")])
        let next = try await store.record(.set("d", 1))
        #expect(next.id == IntentID(replica: fresh, number: 4))
        await store.close()
        store = try await open(keeper)
        #expect(store.status.replica == fresh)
        let mine = IntentID(replica: ReplicaID("me")!, number: 4)
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("e", 1), origin: mine)])
        #expect(try store.intent(4).state == .pending, "another replica's number 4 is foreign")
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: whatever way a backup is restored, the log takes a fresh replica id`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await fill(keeper)
        let backup = directory.url.appending(path: "backup", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: backup)
        // The log goes on, so that numbers are given that the backup does not know.
        var store = try await open(keeper)
        _ = try await store.record(.set("later", 1))
        await store.close()
        let ways: [(String, [String])] = [
            ("the data file alone, overwritten in place", ["cp", "data.mdb"]),
            ("everything, overwritten in place", ["cp", "data.mdb", "lock.mdb", "mark"]),
            ("the data file alone, put in its place", ["mv", "data.mdb"]),
        ]
        var seen: Set<ReplicaID> = [try await replica(keeper)]
        #expect(seen == [ReplicaID("me")!])
        for (way, words) in ways {
            for name in words.dropFirst() {
                // The mark is empty, and reading an empty file leaks in Foundation.
                let bytes =
                    name == "mark" ? Data() : try Data(contentsOf: backup.appending(path: name))
                try bytes.write(
                    to: directory.log.appending(path: name),
                    options: words[0] == "mv" ? .atomic : [])
            }
            store = try await open(keeper)
            let fresh = store.status.replica
            #expect(seen.insert(fresh).inserted, "\(way)")
            #expect(try await store.record(.set("again", 1)).id.replica == fresh)
            await store.close()
            #expect(try await replica(keeper) == fresh, "it keeps what it has taken: \(way)")
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: a process that ends between commit and mark keeps its replica id`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await fill(keeper)
        let mark = directory.log.appending(path: "mark")
        let store = try await open(keeper)
        // A link keeps the file that was there while the store puts its own in place.
        let link = directory.url.appending(path: "link")
        try FileManager.default.linkItem(at: mark, to: link)
        _ = try await store.record(.set("later", 1))
        await store.close()
        try FileManager.default.removeItem(at: mark)
        try FileManager.default.moveItem(at: link, to: mark)
        #expect(try await replica(keeper) == ReplicaID("me"))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L11: neither do two in a row`(keeper: BoardKeeper) async throws {
        try await fill(keeper)
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

    /// The number of the last commit, which LMDB's meta pages have by turns.
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
        // A page is what it is where the file was made: MDB_meta's mm_psize, and then mm_txnid of both.
        let pageSize: UInt32 = try number(at: 40)
        return max(try number(at: 144), try number(at: UInt64(pageSize) + 144))
    }

    /// Rows and the sequence that they are at included: every table has what one commit wrote.
    @Test(arguments: BoardKeeper.allCases, LogKind.allCases)
    func `L4: a command is one commit, whatever it changes`(
        keeper: BoardKeeper, kind: LogKind
    ) async throws {
        let store = try await open(keeper, kind)
        // The first one also says whose file it is (L11).
        _ = try await store.record(.set("first", 1))
        var last = try lastCommit()
        func requireOneCommit(_ what: String) throws {
            let now = try lastCommit()
            #expect(now == last + 1, "\(what)")
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
    func `L4: an entry and the verdict that it changes are in one transaction`(
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
    func `L1: sequences and numbers go on after reopening`(keeper: BoardKeeper) async throws {
        try await fill(keeper)
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
        let again = try await open()
        #expect(try again.cells == ["a": 1])
        await again.close()
    }

    @Test func `L7: nobody has to know a map size`() async throws {
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        let text = JSON.string(String(repeating: "x", count: 1 << 20))
        for number in 0..<100 { _ = try await store.record(.set("k\(number % 3)", text)) }
        #expect(store.status.bytesOnDisk > 100 << 20)
        await store.close()
    }
}
