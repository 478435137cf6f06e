import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Question: what does opening do with a log whose file or records are damaged, or come from newer
/// code (L5)?
///
/// It reports the damage and its sequence. It never skips damage, and never creates the log again.
@Suite struct DamagedLogTests {
    private let directory = TemporaryDirectory()
    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    private func open(_ keeper: BoardKeeper) async throws(LogError) -> any BoardStore {
        try await keeper.open(at: directory.log)
    }

    // MARK: Records

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a log in a newer format is refused and left unchanged`(keeper: BoardKeeper)
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        var newer = ByteWriter()
        newer.fixed(LogHeader.format + 1)
        _ = newer.seal(seed: 0)
        try forge(newer.bytes, at: nil)
        let before = try Data(contentsOf: dataFile)
        let refused = await error { () throws(LogError) in try await open(keeper) }
        guard case .newerFormat = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a log with an entry of a newer kind is refused`(keeper: BoardKeeper) async throws {
        try await keeper.fillLog(at: directory.log)
        var newer = ByteWriter()
        newer.fixed(1 as UInt8)
        newer.fixed(40 as UInt8)
        _ = newer.seal(seed: 6)
        try forge(newer.bytes, at: 6)
        let refused = await error { () throws(LogError) in try await open(keeper) }
        guard case .newerFormat(_, sequence: 6, found: "entry kind 40") = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: damage names the sequence and is never skipped`(keeper: BoardKeeper) async throws {
        try await keeper.fillLog(at: directory.log)
        try forge([1, 2, 3], at: 3)
        let damaged = await error { () throws(LogError) in try await open(keeper) }
        guard case .damaged(_, sequence: 3, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
        let reader = try LogReader(at: directory.log)
        #expect(throws: LogError.self) { try reader.status() }
        #expect(try reader.entries(from: 1, countMax: 2).count == 2)
        reader.close()
    }

    @Test func `L5: rows ahead of their log are damage`() async throws {
        try await expectDamage(.rows, at: 5)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: missing records are damage`(keeper: BoardKeeper) async throws {
        try await expectDamage(keeper, at: 3)
    }

    /// Deletes one of five entries, and expects that opening names its sequence.
    private func expectDamage(_ keeper: BoardKeeper, at sequence: LogSequence) async throws {
        try await keeper.fillLog(at: directory.log)
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            _ = try transaction.delete(sequence.value, from: entries)
        }
        environment.close()
        let damaged = await error { () throws(LogError) in try await open(keeper) }
        guard case .damaged(_, sequence: sequence, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: entries that contradict each other are damage`(keeper: BoardKeeper) async throws {
        try await keeper.fillLog(at: directory.log)
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
        var fold = LogFold(of: log)
        try fold.replay(log, codec: RawCodec())
        let chain = fold.chain
        log.close()
        for (entry, reasonPart) in forged {
            let record = Record(
                stamp: Stamp(sequence: 6, time: Timestamp(millisecondsSince1970: 0)),
                replica: ReplicaID("me")!, info: [:], entry: entry)
            try forge(record.encoded(predecessor: chain, replicas: replicas).bytes, at: 6)
            let damaged = await error { () throws(LogError) in try await open(keeper) }
            guard case .damaged(_, sequence: 6, let reason) = damaged else {
                Issue.record("\(entry): \(String(describing: damaged))")
                continue
            }
            #expect(reason.contains(reasonPart))
        }
    }

    /// Writes `bytes` as the record at `sequence`, or as the header if `sequence` is nil.
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

    // MARK: The file

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a truncated file is damage and does not end the process`(keeper: BoardKeeper)
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let size = try Data(contentsOf: dataFile).count
        for newSize in stride(from: size - 1, to: 8_192, by: -4_096) {
            let handle = try FileHandle(forWritingTo: dataFile)
            try handle.truncate(atOffset: UInt64(newSize))
            try handle.close()
            let cutOff = await error { () throws(LogError) in try await open(keeper) }
            guard case .damaged = cutOff else {
                Issue.record("\(newSize) of \(size) bytes: \(String(describing: cutOff))")
                return
            }
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: a log truncated to its first pages is not created again`(keeper: BoardKeeper)
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let whole = try Data(contentsOf: dataFile)
        for rest in [whole.prefix(4_096), Data(repeating: 0, count: 8_192)] {
            try rest.write(to: dataFile)
            let refused = await error { () throws(LogError) in try await open(keeper) }
            #expect(refused != nil)
            #expect(try Data(contentsOf: dataFile) == rest)
        }
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L5: meta pages that change under an open store are damage and do not hang a reader`(
        keeper: BoardKeeper
    )
        async throws
    {
        try await keeper.fillLog(at: directory.log)
        let store = try await open(keeper)
        let handle = try FileHandle(forWritingTo: dataFile)
        // Overwrite the commit's number in both pages, so that neither page names the last commit.
        for page in [0, 1] as [UInt64] {
            try handle.seek(toOffset: page * 4_096 + 144)
            try handle.write(contentsOf: Data(repeating: 7, count: 8))
        }
        try handle.close()
        #expect(throws: LogError.self) { try store.entries(from: 1, countMax: 1) }
        switch keeper {
        case .memory: #expect(try store.cells["a"] == 1)
        case .rows: #expect(throws: LogError.self) { try store.cells }
        }
        await store.close()
    }
}
