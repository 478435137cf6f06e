import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Question: does a store that compacts its log by itself go on as a store that never does (C10), and do
/// archives give back what was removed (C9)?
@Suite struct PreparedLogTests {
    private let directory = TemporaryDirectory()

    private var archive: URL {
        directory.url.appending(path: "old", directoryHint: .isDirectory)
    }

    private func open(
        _ kind: LogKind = .downlink, keeping window: HistoryWindow, entriesMin: Int = 1,
        tailMax: Int = 1_000, also: [AdditionalProjection<Move>] = []
    ) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self, also: also, conflicts: .perProjection,
            existingOr: kind, mustBe: kind, durability: .relaxed, checkpoints: .eager,
            replica: .exactly(ReplicaID("me")!), unreadable: .refused,
            compacting: try Compacting(
                window, archive: archive, entriesMin: entriesMin, tailMax: tailMax),
            sources: .counting(), progress: nil)
    }

    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
        }
    }

    // MARK: C10

    /// The property: a store that prepares compactions at random moments, and takes them over when it is
    /// opened again, shows after each command what a store in memory shows that never compacts.
    @Test(arguments: LogKind.allCases)
    func `C10: a log that compacts itself shows the same as one that never does`(kind: LogKind)
        async throws
    {
        let first = testSeed("prepared, \(kind)", variable: "PREPARED_SEED")
        var compactions = 0
        for seed in first..<first + TestEffort.value(quick: 8, full: 400) {
            compactions += try await PreparedLogTests().check(kind, seed: seed)
        }
        print("\(compactions) compactions of \(kind) logs in the background")
        #expect(compactions > 0)
    }

    private func check(_ kind: LogKind, seed: UInt64) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        let script = try RandomHistory.script(kind, steps: 60, using: &random)
        let also = [AdditionalProjection(RowBoard.self)]
        let twin = Store.inMemory(
            Board.self, also: also, conflicts: .perProjection, confirmedBy: kind,
            replica: ReplicaID("me"), sources: .counting())
        let window = HistoryWindow.entries(Int.random(in: 1...12, using: &random))
        var store = try await open(kind, keeping: window, also: also)
        var (numbers, compactions) = (ScriptNumbers(), 0)
        for (index, step) in script.steps.enumerated() {
            guard let command = numbers.command(for: step) else {
                numbers.note(nil, of: step)
                continue
            }
            let note: Comment = "seed \(seed), step \(index): \(step)"
            // No server has an intent that was taken back, so no answer to it comes.
            guard try !store.isAnswerToRemoved(command) else {
                numbers.note(nil, of: step)
                continue
            }
            let expected = await twin.carryOut(command)
            numbers.note(expected, of: step)
            let result = await store.carryOut(command)
            // Undo and answers can need an entry that is gone. Nothing changed then, and the rest differs.
            guard result == expected else {
                #expect(result == .removed, note)
                break
            }
            if Int.random(in: 0..<6, using: &random) == 0 {
                let base = store.status.base
                // Sometimes the store is closed while it prepares.
                if Bool.random(using: &random) { await store.core.compaction.end() }
                await store.close()
                #expect(store.compactionFailure == nil, note)
                store = try await open(kind, keeping: window, also: also)
                #expect(store.compactionFailure == nil, note)
                if store.status.base > base { compactions += 1 }
            }
            try await expectSame(store, twin, note)
        }
        #expect(try await store.verify().findings == [], "seed \(seed)")
        await store.close()
        return compactions
    }

    private func expectSame(
        _ store: Store<Board>, _ twin: Store<Board>, _ note: Comment
    ) async throws {
        #expect(store.status.sequence == twin.status.sequence, note)
        #expect(store.view == twin.view && store.confirmed == twin.confirmed, note)
        #expect(store.overlay.map(\.id) == twin.overlay.map(\.id), note)
        #expect(store.rejections == twin.rejections, note)
        #expect(store.attempts.keys == twin.attempts.keys, note)
        let rows = try store.projected(RowBoard.self).read { try SeenBoard($0) }
        let expected = try twin.projected(RowBoard.self).read { try SeenBoard($0) }
        #expect(rows == expected, note)
        for number in stride(from: 1, to: twin.core.published.nextNumber.value, by: 1) {
            let number = IntentNumber(number)
            #expect(
                try store.core.status(of: number).state == twin.core.status(of: number).state, note)
        }
    }

    private func confirm(_ positions: ClosedRange<Int>, in store: Store<Board>) async throws {
        for position in positions {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Move.set("a", position))
            try await store.confirm([event], through: event.position)
        }
    }

    @Test func `C10: what was prepared takes the log's place with what came since`() async throws {
        var store = try await open(keeping: .everything)
        try await confirm(1...40, in: store)
        try await store.record(.set("mine", 1))
        await store.close()
        store = try await open(keeping: .entries(10))
        await store.core.compaction.end()
        #expect(try names == ["log", "log.prepared"])
        #expect(store.status.base == 0)
        try await store.record(.set("later", 1))
        try await store.reject(1, message: "no")
        try await confirm(41...45, in: store)
        await store.close()
        store = try await open(keeping: .entries(10), entriesMin: 1_000)
        #expect(try names == ["log", "old"])
        #expect(store.status.base == 31 && store.status.sequence == 48)
        #expect(store.view.cells == ["a": 45, "later": 1] && store.rejections == [1])
        #expect(store.status.replica == ReplicaID("me"))
        #expect(try await store.verify().findings == [])
        await store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive.path) == ["log-1-31"])
    }

    @Test func `C10: what does not fit any more is removed, and prepared again`() async throws {
        var store = try await open(keeping: .everything)
        try await confirm(1...40, in: store)
        await store.close()
        store = try await open(keeping: .entries(10))
        await store.core.compaction.end()
        try await confirm(41...60, in: store)
        await store.close()
        // Twenty entries are too many to add while the app waits.
        store = try await open(keeping: .entries(10), entriesMin: 1_000, tailMax: 10)
        #expect(store.status.base == 0 && store.compactionFailure == nil)
        #expect(try names == ["log"])
        await store.close()
        // What was prepared for another log of this name.
        store = try await open(keeping: .entries(10))
        await store.core.compaction.end()
        await store.close()
        let prepared = directory.url.appending(path: "log.prepared")
        let other = directory.url.appending(path: "other")
        try FileManager.default.moveItem(at: prepared, to: other)
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        try FileManager.default.moveItem(at: other, to: prepared)
        store = try await open(keeping: .entries(10))
        try await confirm(1...3, in: store)
        await store.close()
        #expect(store.status.sequence == 3 && store.view.cells == ["a": 3])
    }

    @Test func `C10: a wipe, and a compaction of the closed log, remove what was prepared`()
        async throws
    {
        var store = try await open(keeping: .everything)
        try await confirm(1...40, in: store)
        await store.close()
        for isWiped in [false, true] {
            store = try await open(keeping: .entries(10))
            await store.core.compaction.end()
            await store.close()
            #expect(try names.contains("log.prepared"))
            if isWiped {
                try await Store<Board>.wipe(at: directory.log, discardingPending: true)
            } else {
                #expect(
                    try await Store.compact(
                        at: directory.log, Board.self, keeping: .entries(25), archive: archive
                    ).base == 15)
            }
            #expect(try names == (isWiped ? ["old"] : ["log", "old"]))
        }
    }

    @Test func `C10: a failure is told, and the log opens all the same`() async throws {
        var store = try await open(
            keeping: .everything, also: [AdditionalProjection(RowBoard.self)])
        try await confirm(1...40, in: store)
        await store.close()
        store = try await Store.open(
            at: directory.log, Board.self, also: [], conflicts: .perProjection,
            existingOr: .downlink, mustBe: .downlink,
            durability: .relaxed, checkpoints: .eager, replica: .random, unreadable: .refused,
            compacting: try Compacting(.entries(10), archive: nil, entriesMin: 1), sources: .system,
            progress: nil)
        await store.core.compaction.end()
        guard case .lacksProjections = store.compactionFailure else {
            Issue.record("\(String(describing: store.compactionFailure))")
            return
        }
        #expect(store.view.cells == ["a": 40])
        #expect(try names == ["log"])
        await store.close()
    }

    @Test func `C10: what a kill left beside the log is removed`() async throws {
        var store = try await open(keeping: .everything)
        try await confirm(1...200, in: store)
        await store.close()
        let unfinished = directory.url.appending(path: "log.preparing", directoryHint: .isDirectory)
        let whole = try Data(contentsOf: directory.log.appending(path: "data.mdb"))
        // Copies that end anywhere.
        for bytes in [0, 1, 4_095, 4_096, 8_191, 8_192, 20_480, whole.count / 2, whole.count] {
            try FileManager.default.createDirectory(
                at: unfinished, withIntermediateDirectories: true)
            try whole.prefix(bytes).write(to: unfinished.appending(path: "data.mdb"))
            store = try await open(keeping: .entries(100), entriesMin: 150)
            await store.core.compaction.end()
            #expect(store.compactionFailure == nil, "\(bytes) bytes")
            await store.close()
            // Too few can go, so nothing was looked at.
            store = try await open(keeping: .entries(100), entriesMin: 50)
            await store.core.compaction.end()
            #expect(store.compactionFailure == nil, "\(bytes) bytes")
            #expect(try names == ["log", "log.prepared"], "\(bytes) bytes")
            await store.close()
            try FileManager.default.removeItem(at: directory.url.appending(path: "log.prepared"))
        }
        // A kill between the two names that the prepared form gets.
        store = try await open(keeping: .entries(100), entriesMin: 50)
        await store.core.compaction.end()
        await store.close()
        try FileManager.default.moveItem(
            at: directory.url.appending(path: "log.prepared"),
            to: directory.url.appending(path: "log.compacted"))
        for _ in 1...2 {
            store = try await open(keeping: .entries(100), entriesMin: 50)
            await store.core.compaction.end()
            #expect(store.compactionFailure == nil)
            #expect(store.view.cells == ["a": 200])
            await store.close()
        }
        #expect(store.status.base == 100)
        #expect(try names == ["log", "old"])
    }

    /// A user saw an error about a log that the app had never opened.
    @Test func `C10: an error names the app's log, and the file beside it as a detail`()
        async throws
    {
        try await prepare()
        var pages = try DamagedPages(of: directory.url.appending(path: "log.prepared/data.mdb"))
        try pages.zeroListOfTables()
        var store = try await open(keeping: .entries(10))
        guard case .notProven(directory.log.path, let different) = store.compactionFailure else {
            Issue.record("\(String(describing: store.compactionFailure))")
            return
        }
        #expect(different.hasPrefix("\(directory.log.path).prepared is damaged: "))
        // The log is prepared again, so the next opening takes it over.
        await store.core.compaction.end()
        await store.close()
        store = try await open(keeping: .entries(10))
        #expect(store.compactionFailure == nil)
        #expect(store.status.base == 30)
        await store.close()
    }

    /// Opens the log after it has prepared a form that keeps ten entries.
    private func prepare(kind: LogKind = .downlink) async throws {
        let store = try await open(kind, keeping: .everything)
        if kind == .downlink {
            try await confirm(1...40, in: store)
        } else {
            for number in 1...40 { try await store.record(.set("a", number)) }
        }
        await store.close()
        let again = try await open(kind, keeping: .entries(10))
        await again.core.compaction.end()
        #expect(try names.contains("log.prepared"))
        await again.close()
    }

    @Test func `C6, C10: what the code of an update needs is not removed by its first opening`()
        async throws
    {
        try await prepare()
        func open(archive: URL?) async throws -> Store<Board> {
            try await Store.open(
                at: directory.log, Board.self, also: [AdditionalProjection(RowBoard.self)],
                conflicts: .perProjection, existingOr: .downlink, mustBe: .downlink,
                durability: .relaxed, checkpoints: .eager, replica: .random, unreadable: .refused,
                compacting: try Compacting(.entries(10), archive: archive, entriesMin: 1_000),
                sources: .counting(), progress: nil)
        }
        let store = try await open(archive: nil)
        #expect(store.status.base == 0)
        #expect(
            try store.projected(RowBoard.self).read { try SeenBoard($0) }.view.cells == ["a": 40])
        #expect(try names == ["log"])
        await store.close()
    }

    @Test func `C5, C10: a larger window, and another kind of log, keep what was prepared away`()
        async throws
    {
        try await prepare()
        let store = try await open(keeping: .entries(30), entriesMin: 1_000)
        #expect(store.status.base == 0)
        await store.close()
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        try await prepare(kind: .acknowledgement)
        let differs = await error { () throws(LogError) in
            _ = try await Store.open(
                at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed,
                keeping: .entries(10))
        }
        guard case .kindDiffers = differs else {
            Issue.record("\(String(describing: differs))")
            return
        }
        let same = try await open(.acknowledgement, keeping: .everything)
        #expect(same.status.base == 0 && same.status.entryCount == 40)
        await same.close()
    }

    @Test func `N6, C10: a log that is kept does not compact itself`() async throws {
        try await prepare()
        let kept = directory.url.appending(
            path: "log.kept-0123456789abcdef", directoryHint: .isDirectory)
        try FileManager.default.moveItem(at: directory.log, to: kept)
        for _ in 1...2 {
            let store = try await Store.open(
                at: kept, Board.self, also: [], conflicts: .perProjection, existingOr: .downlink,
                mustBe: .downlink, durability: .relaxed, checkpoints: .eager, replica: .random,
                unreadable: .refused,
                compacting: try Compacting(.entries(10), archive: nil, entriesMin: 1),
                sources: .counting(), progress: nil)
            await store.core.compaction.end()
            #expect(store.status.base == 0)
            await store.close()
        }
        #expect(try names == ["log.kept-0123456789abcdef", "log.prepared"])
        // What was prepared for a log that is gone goes with a wipe, as the kept logs do.
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        #expect(try names == [])
    }

    @Test func `C10: what an exchange leaves is archived by the next opening`() async throws {
        try await prepare()
        let old = directory.url.appending(path: "copy", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: old)
        var store = try await open(keeping: .entries(10), entriesMin: 1_000)
        #expect(store.status.base == 30)
        await store.close()
        // As if the process had been killed after the exchange of the names.
        try FileManager.default.removeItem(at: archive)
        try FileManager.default.moveItem(
            at: old, to: directory.url.appending(path: "log.compacted"))
        store = try await open(keeping: .entries(10), entriesMin: 1_000)
        #expect(store.compactionFailure == nil)
        await store.close()
        #expect(try names == ["log", "old"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive.path) == ["log-1-30"])
    }

    @Test func `BK1: a backup is replaced also after the log was compacted, and no other log is`()
        async throws
    {
        let copy = directory.url.appending(path: "copy", directoryHint: .isDirectory)
        var store = try await open(keeping: .everything)
        try await confirm(1...40, in: store)
        try await store.backup(to: copy)
        await store.close()
        _ = try await Store.compact(at: directory.log, Board.self, keeping: .entries(10))
        store = try await open(keeping: .everything)
        #expect(try await store.backup(to: copy) == 40)
        let other = directory.url.appending(path: "other", directoryHint: .isDirectory)
        try await Store<Board>.begin(
            at: other, from: [.value(Board())], through: 3, of: Lineage("server")!)
        let refused = await error { () throws(LogError) in try await store.backup(to: other) }
        guard case .notABackup = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        await store.close()
    }

    // MARK: C9

    @Test func `C9, L11: an archive that went on by itself is read up to where it was cut`()
        async throws
    {
        try await makeArchived()
        let went = archive.appending(path: "log-41-80", directoryHint: .isDirectory)
        let store = try await Store.open(
            at: went, Board.self, confirmedBy: .downlink, durability: .relaxed)
        for number in 1...50 { try await store.record(.set("b", number)) }
        try await store.checkpoint()
        await store.close()
        let reader = try LogReader(at: directory.log, archive: archive)
        #expect(try reader.snapshot(of: Board.self, at: 100).view.cells == ["mine": 1, "a": 99])
        #expect(try reader.verify(Board.self).findings == [])
        #expect(try reader.removable(keeping: .entries(5), sources: .counting()).removed == 15)
        reader.close()
    }

    @Test func `C9, E6: an event of an archive that this code cannot read is named`() async throws {
        typealias Old = EditionBoard<FirstEdition>
        let writer = try await Store.open(
            at: directory.log, EditionBoard<LastEdition>.self, confirmedBy: .downlink,
            durability: .relaxed)
        for position in 1...20 {
            let event: Move = position == 7 ? .claim("c") : .set("a", position)
            try await writer.confirm(
                [ConfirmedEvent(position: Position(UInt64(position)), event: event)])
        }
        await writer.close()
        _ = try await Store.compact(
            at: directory.log, EditionBoard<LastEdition>.self, keeping: .entries(5),
            archive: archive)
        let refused = await error { () throws(LogError) in
            _ = try await Store.open(
                at: directory.log, Old.self, also: [AdditionalProjection(EditionCount.self)],
                conflicts: .perProjection, confirmedBy: .downlink, durability: .relaxed,
                archive: archive)
        }
        guard case .needsHistory(_, let names, base: 15) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(names.contains { $0.contains("entry 7 has an event that this code does not read") })
    }

    private func makeArchived() async throws {
        let store = try await open(keeping: .everything)
        try await store.record(.set("mine", 1))
        try await confirm(1...99, in: store)
        await store.close()
        for count in [60, 20] {
            _ = try await Store.compact(
                at: directory.log, Board.self, keeping: .entries(count), archive: archive,
                sources: .counting())
        }
    }

    @Test func `C9: a reader with the archives has every entry again`() async throws {
        try await makeArchived()
        let reader = try LogReader(at: directory.log, archive: archive)
        #expect(reader.first == 1)
        #expect(try reader.history().count == 100)
        #expect(try reader.verify(Board.self).findings == [])
        for sequence: LogSequence in [0, 1, 17, 40, 41, 80, 81, 100] {
            let board = try reader.snapshot(of: Board.self, at: sequence).view
            let expected = sequence > 1 ? ["mine": 1, "a": Int(sequence.value) - 1] : ["mine": 1]
            #expect(board.cells == (sequence == 0 ? [:] : expected))
        }
        #expect(try reader.entries(from: 1, countMax: 1).map(\.sequence) == [1])
        reader.close()
        // Without the oldest archive, the history begins later.
        try FileManager.default.removeItem(at: archive.appending(path: "log-1-40"))
        let part = try LogReader(at: directory.log, archive: archive)
        #expect(part.first == 41)
        #expect(try part.snapshot(of: Board.self, at: 40).view.cells == ["mine": 1, "a": 39])
        #expect(try part.verify(Board.self).findings == [])
        part.close()
        let lacking = await error { () throws(LogError) in
            _ = try LogReader(at: directory.log, archive: directory.url)
        }
        guard case .lacksArchive(directory.log.path, _, through: 80) = lacking else {
            Issue.record("\(String(describing: lacking))")
            return
        }
    }

    @Test func `C9: verify with the archives also compares the states with which the log begins`()
        async throws
    {
        let store = try await Store.open(
            at: directory.log, EditionCount.self, confirmedBy: .downlink, durability: .relaxed)
        for position in 1...20 {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Move.set("a", position))
            try await store.confirm([event])
        }
        await store.close()
        _ = try await Store.compact(
            at: directory.log, EditionCount.self, keeping: .entries(5), archive: archive)
        func places(_ archive: URL?) throws -> [Verification.Place] {
            let reader = try LogReader(at: directory.log, archive: archive)
            defer { reader.close() }
            #expect(try reader.verify(EditionCount.self).findings == [])
            return try reader.verify(RecountedEdition.self).findings.map(\.place)
        }
        #expect(try places(nil) == [])
        #expect(try places(archive) == [.checkpoint(15), .checkpoint(20)])
    }

    @Test func `C9: a projection that is new to a compacted log is folded from the archives, once`()
        async throws
    {
        try await makeArchived()
        let also = [
            AdditionalProjection<Move>(SloppyBoard.self), AdditionalProjection(RowBoard.self),
        ]
        let lacking = await error { () throws(LogError) in
            _ = try await Store.open(
                at: directory.log, Board.self, also: also, conflicts: .perProjection,
                confirmedBy: .downlink, durability: .relaxed)
        }
        guard case .needsHistory = lacking else {
            Issue.record("\(String(describing: lacking))")
            return
        }
        let reader = try LogReader(at: directory.log, archive: archive)
        let sloppy = try [80, 100].map { try reader.snapshot(of: SloppyBoard.self, at: $0).view }
        reader.close()
        #expect(!sloppy[0].moves.isEmpty)
        for archive in [archive, nil] {
            let store = try await Store.open(
                at: directory.log, Board.self, also: also, conflicts: .perProjection,
                confirmedBy: .downlink, durability: .relaxed, archive: archive)
            #expect(store.projected(SloppyBoard.self).view == sloppy[1])
            let rows = try store.projected(RowBoard.self).read { try SeenBoard($0) }
            #expect(rows.view.cells == ["mine": 1, "a": 99])
            #expect(try await store.verify().findings == [])
            #expect(try await store.snapshot(of: SloppyBoard.self, at: 80).view == sloppy[0])
            await store.close()
        }
        // The code that compacted it still finds its state.
        let old = try await Store.open(
            at: directory.log, Board.self, conflicts: .perProjection, confirmedBy: .downlink,
            durability: .relaxed)
        #expect(old.view.cells == ["mine": 1, "a": 99])
        await old.close()
    }
}

/// Values of the first edition, which knows no claims.
private struct EditionCount: Projection, Codable, Equatable {
    private var count = 0
    static var codec: any EventCodec<Move> { EditionCodec<FirstEdition>() }
    mutating func apply(_ move: Move, _ context: EventContext) { count += 1 }
}

/// The same after an update that counts an event of entry 7 otherwise, and has no other version.
private struct RecountedEdition: Projection, Codable, Equatable {
    private var count = 0
    static var name: String { EditionCount.name }
    static var codec: any EventCodec<Move> { EditionCodec<FirstEdition>() }
    mutating func apply(_ move: Move, _ context: EventContext) {
        if case .set(_, 7) = move { count += 2 } else { count += 1 }
    }
}
