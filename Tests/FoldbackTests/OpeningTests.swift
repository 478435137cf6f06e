import Foldback
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// What a user sees when a log cannot be opened, and what opening does to a log (L1, L8 to L11).
@Suite struct OpeningTests {
    let directory = TemporaryDirectory()

    private func open(
        _ kind: LogKind = .downlink, replica: String? = nil
    ) async throws(FoldbackError) -> Store<Board> {
        try await Foldback.open(
            at: directory.log, Board.self, confirmedBy: kind, durability: .durable,
            replica: replica.flatMap { ReplicaID($0) })
    }

    /// A log with an accepted, a settled and a pending intent.
    private func fill() async throws {
        let store = try await open(replica: "me")
        _ = try await store.record(.set("a", 1))
        let second = try await store.record(.set("b", 1))
        try await store.acknowledge(second.number)
        let third = try await store.record(.set("c", 1))
        try await store.reject(third.number, message: "no")
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
        await (try open(.downlink)).close()
        let other = await error { () throws(FoldbackError) in try await open(.acknowledgement) }
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

    @Test func `L5: a log of a newer format is refused, and nothing is lost`() async throws {
        try await fill()
        var newer = ByteWriter()
        newer.fixed(LogHeader.format + 1)
        _ = newer.seal(seed: 0)
        try forge(newer.bytes, at: nil)
        let before = try Data(contentsOf: dataFile)
        let refused = await error { () throws(FoldbackError) in try await open() }
        guard case .newerFormat = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `L5: an entry of a newer kind is not folded past`() async throws {
        try await fill()
        var newer = ByteWriter()
        newer.fixed(1 as UInt8)
        newer.fixed(40 as UInt8)
        _ = newer.seal(seed: 6)
        try forge(newer.bytes, at: 6)
        let refused = await error { () throws(FoldbackError) in try await open() }
        guard case .newerFormat(_, sequence: 6, found: "entry kind 40") = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test func `L5: damage names the sequence, and is never skipped`() async throws {
        try await fill()
        try forge([1, 2, 3], at: 3)
        let damaged = await error { () throws(FoldbackError) in try await open() }
        guard case .damaged(_, sequence: 3, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
        let reader = try LogReader(at: directory.log)
        #expect(throws: FoldbackError.self) { try reader.status() }
        #expect(try reader.entries(from: 1, countMax: 2).count == 2)
        reader.close()
    }

    @Test func `L5: records that are missing at the end are damage`() async throws {
        try await fill()
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            _ = try transaction.delete(3, from: entries)
        }
        environment.close()
        let damaged = await error { () throws(FoldbackError) in try await open() }
        guard case .damaged(_, sequence: 3, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
    }

    @Test func `L5: a file that was cut off is damage, not the end of the process`() async throws {
        try await fill()
        let size = try Data(contentsOf: dataFile).count
        for left in stride(from: size - 1, to: 8_192, by: -4_096) {
            let handle = try FileHandle(forWritingTo: dataFile)
            try handle.truncate(atOffset: UInt64(left))
            try handle.close()
            let cutOff = await error { () throws(FoldbackError) in try await open() }
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

    @Test func `L5: a log that was cut off at its first pages is not made again`() async throws {
        try await fill()
        let whole = try Data(contentsOf: dataFile)
        for rest in [whole.prefix(4_096), Data(repeating: 0, count: 8_192)] {
            try rest.write(to: dataFile)
            let refused = await error { () throws(FoldbackError) in try await open() }
            #expect(refused != nil)
            #expect(try Data(contentsOf: dataFile) == rest)
        }
    }

    @Test func `L5: meta pages that change under an open store are damage, not the end of time`()
        async throws
    {
        try await fill()
        let store = try await open()
        let handle = try FileHandle(forWritingTo: dataFile)
        // The commits' numbers: neither page names the last one any more.
        for page in [0, 1] as [UInt64] {
            try handle.seek(toOffset: page * 4_096 + 144)
            try handle.write(contentsOf: Data(repeating: 7, count: 8))
        }
        try handle.close()
        #expect(throws: FoldbackError.self) { try store.entries(from: 1, countMax: 1) }
        #expect(store.view.cells["a"] == 1)
        await store.close()
    }

    @Test func `L5: entries that contradict one another are damage`() async throws {
        try await fill()
        let replicas = ReplicaTable([ReplicaID("me")!])
        let forged: [(Entry, String)] = [
            (.withdrawn(3), "intent 3 is not pending"), (.dismissed(1), "not in the list"),
            (.rejected(9, Rejection(message: "")), "not pending"),
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
            let damaged = await error { () throws(FoldbackError) in try await open() }
            guard case .damaged(_, sequence: 6, let reason) = damaged else {
                Issue.record("\(entry): \(String(describing: damaged))")
                continue
            }
            #expect(reason.contains(words))
        }
    }

    @Test func `L9: looking at a log leaves every byte and creates nothing`() async throws {
        try await fill()
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

    @Test func `L11: a copied log takes a fresh replica id, a moved one keeps it`() async throws {
        try await fill()
        let moved = directory.url.appending(path: "moved", directoryHint: .isDirectory)
        try FileManager.default.moveItem(at: directory.log, to: moved)
        try FileManager.default.moveItem(at: moved, to: directory.log)
        var store = try await open(replica: "ignored")
        #expect(store.status.replica == ReplicaID("me"))
        await store.close()
        try FileManager.default.copyItem(at: directory.log, to: moved)
        try FileManager.default.removeItem(at: directory.log)
        try FileManager.default.moveItem(at: moved, to: directory.log)
        store = try await open(replica: "ignored")
        let fresh = store.status.replica
        #expect(fresh != ReplicaID("me"))
        #expect(fresh != ReplicaID("ignored"))
        // Intents recorded before keep their id; numbers go on.
        #expect(store.overlay.map(\.id.replica) == [ReplicaID("me"), ReplicaID("me")])
        let next = try await store.record(.set("d", 1))
        #expect(next.id == IntentID(replica: fresh, number: 4))
        await store.close()
        store = try await open()
        #expect(store.status.replica == fresh)
        let mine = IntentID(replica: ReplicaID("me")!, number: 4)
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("e", 1), origin: mine)])
        #expect(try store.intent(4).state == .pending, "another replica's number 4 is foreign")
        await store.close()
    }

    @Test func `L11: whatever way a backup is restored, the log takes a fresh replica id`()
        async throws
    {
        try await fill()
        let backup = directory.url.appending(path: "backup", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: backup)
        // The log goes on, so that numbers are given that the backup does not know.
        var store = try await open()
        _ = try await store.record(.set("later", 1))
        await store.close()
        let ways: [(String, [String])] = [
            ("the data file alone, overwritten in place", ["cp", "data.mdb"]),
            ("everything, overwritten in place", ["cp", "data.mdb", "lock.mdb", "mark"]),
            ("the data file alone, put in its place", ["mv", "data.mdb"]),
        ]
        var seen: Set<ReplicaID> = [try await replica()]
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
            store = try await open()
            let fresh = store.status.replica
            #expect(seen.insert(fresh).inserted, "\(way)")
            #expect(try await store.record(.set("again", 1)).id.replica == fresh)
            await store.close()
            #expect(try await replica() == fresh, "it keeps what it has taken: \(way)")
        }
    }

    @Test func `L11: a process that ends between commit and mark keeps its replica id`()
        async throws
    {
        try await fill()
        let mark = directory.log.appending(path: "mark")
        let store = try await open()
        // A link keeps the file that was there while the store puts its own in place.
        let link = directory.url.appending(path: "link")
        try FileManager.default.linkItem(at: mark, to: link)
        _ = try await store.record(.set("later", 1))
        await store.close()
        try FileManager.default.removeItem(at: mark)
        try FileManager.default.moveItem(at: link, to: mark)
        #expect(try await replica() == ReplicaID("me"))
    }

    @Test func `L11: neither do two in a row`() async throws {
        try await fill()
        let mark = directory.log.appending(path: "mark")
        let link = directory.url.appending(path: "link")
        try FileManager.default.linkItem(at: mark, to: link)
        for _ in 1...3 {
            let store = try await open()
            _ = try await store.record(.set("later", 1))
            await store.close()
            try FileManager.default.removeItem(at: mark)
            try FileManager.default.linkItem(at: link, to: mark)
        }
        #expect(try await replica() == ReplicaID("me"))
    }

    private func replica() async throws -> ReplicaID {
        let store = try await open()
        let replica = store.status.replica
        await store.close()
        return replica
    }

    @Test func `L4: an entry and the verdict that it changes are in one transaction`() async throws
    {
        let store = try await open()
        for number in 1...20 as ClosedRange<UInt64> {
            _ = try await store.record(.set("a", 1))
            try await store.reject(IntentNumber(number), message: "no")
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

    @Test func `L1: sequences and numbers go on after reopening`() async throws {
        try await fill()
        let store = try await open()
        let receipt = try await store.record(.set("d", 1))
        #expect(receipt.sequence == 6)
        #expect(receipt.number == 4)
        await store.close()
    }

    @Test func `L2: relaxed and durable stores write the same log`() async throws {
        let store = try await Foldback.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        _ = try await store.record(.set("a", 1))
        try await store.flush()
        await store.close()
        let again = try await open()
        #expect(again.view.cells == ["a": 1])
        await again.close()
    }

    @Test func `L7: nobody has to know a map size`() async throws {
        let store = try await Foldback.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        let text = JSON.string(String(repeating: "x", count: 1 << 20))
        for number in 0..<100 { _ = try await store.record(.set("k\(number % 3)", text)) }
        #expect(store.status.bytesOnDisk > 100 << 20)
        await store.close()
    }
}
