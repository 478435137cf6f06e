import Foldback
import FoldbackHistory
import FoldbackLMDB
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// A value that shares its conflicts with rows depends on rows that the log no longer has. So the log notes
/// the conflicts, and a past view of the value folds from a checkpoint (F11).
@Suite struct PastConflictTests {
    private let directory = TemporaryDirectory()
    private static let codec = AppCodec(codec: Channels.codec)

    private func open(
        _ policy: ConflictPolicy = .shared
    ) async throws -> Store<Channels> {
        try await Store.open(
            at: directory.log, Channels.self, also: [AdditionalProjection(MessageRows.self)],
            conflicts: policy, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .eager, replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    private static func projections() -> ProjectionSet {
        ProjectionSet(Channels.self, [AdditionalProjection(MessageRows.self)])
    }

    private func pastByNotes(
        _ store: Store<Channels>, at sequence: LogSequence
    ) throws -> PublishedState? {
        var fold = try LogFold.pastByNotes(
            store.core.storage, Self.projections(), codec: Self.codec,
            try store.core.storage.sharedConflicts(), upTo: sequence)
        return fold?.makePublishedState()
    }

    /// Compares each past view by the notes with a fold of both projections from the first entry.
    ///
    /// - Returns: the entries whose conflicts are not known.
    private func unknown(_ store: Store<Channels>) throws -> Set<LogSequence> {
        let storage = store.core.storage
        let shared = try storage.sharedConflicts()
        var unknown: Set<LogSequence> = []
        var naive = LogFold(of: storage, Self.projections(), sharing: shared)
        naive.share(asAt: 0)
        try naive.replay(storage, codec: Self.codec) { fold, _, _ throws(LogError) in
            let sequence = fold.state.sequence
            let expected = fold.makePublishedState().folded(Channels.self, at: 0)
            let found: PublishedState?
            do { found = try pastByNotes(store, at: sequence) } catch {
                Issue.record("at \(sequence): \(error)")
                return
            }
            guard let found = found?.folded(Channels.self, at: 0) else {
                unknown.insert(sequence)
                return
            }
            #expect(found.view == expected.view, "at \(sequence)")
            #expect(found.confirmed == expected.confirmed, "at \(sequence)")
            #expect(found.conflicted.keys == expected.conflicted.keys, "at \(sequence)")
            for number in expected.conflicted.keys {
                #expect(found.conflicted[number] == expected.conflicted[number])
            }
            #expect(found.faults.map(\.sequence) == expected.faults.map(\.sequence))
        }
        return unknown
    }

    /// Commands for one transaction, which are often refused.
    private func works(
        _ random: inout SplitMix64, _ store: Store<Channels>
    ) throws -> [(work: Request.Work, bytes: Int)] {
        let overlay = store.snapshot.overlay.map(\.number)
        var position = store.status.through.value
        func event() throws -> Payload {
            let channel = Int.random(in: 1...3, using: &random)
            let isPost = Int.random(in: 0..<3, using: &random) > 0
            return try Channels.codec.payload(
                of: isPost
                    ? .posted(channel: channel, message: .random(in: 1...6, using: &random))
                    : .created(channel: channel))
        }
        return try (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let number = overlay.randomElement(using: &random) ?? 1
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return (.answer(.reject(number, Rejection(message: "no")), from: nil), 0)
            case 1: return (.command(.change(number, .withdraw), isForced: true), 0)
            case 2, 3:
                // The first intents, as the server confirms them, or an event of another device.
                let isOwn = Bool.random(using: &random)
                let own = isOwn ? store.snapshot.overlay.first : nil
                position += 1
                let confirmed = Confirmed(
                    position: Position(position),
                    payload: try own?.event.map { try Channels.codec.payload(of: $0) } ?? event(),
                    origin: own?.id)
                return (.answer(.confirm([confirmed], through: nil), from: nil), 0)
            default:
                let proposal = Proposal(
                    payload: try event(), isConfirmOnly: .random(using: &random), once: nil,
                    info: [:])
                return (.command(.record(proposal), isForced: .random(using: &random)), 0)
            }
        }
    }

    @Test func `F11: a past value by the notes is that of a fold from the first entry`()
        async throws
    {
        let first = testSeed("noted conflicts", variable: "CONFLICT_NOTES_SEED")
        var (entries, unknown) = (0, 0)
        for seed in first..<first + TestEffort.value(quick: 12, full: 300) {
            var random = SplitMix64(seed: seed)
            var store = try await open()
            for step in 1...40 {
                let (requests, failure) = await store.core.runner.submit(
                    contentsOf: try works(&random, store))
                #expect(failure == nil)
                for request in requests { _ = try? await request.outcome() }
                let last = store.status.sequence
                if last > 0 {
                    // The conflicts are always known after a transaction.
                    #expect(try pastByNotes(store, at: last) != nil, "at \(last)")
                }
                guard step % 13 == 0 else { continue }
                await store.close()
                store = try await open()
            }
            let now = try self.unknown(store)
            entries += Int(store.status.sequence.value)
            unknown += now.count
            #expect(try await store.verify().findings.isEmpty, "seed \(seed)")
            await store.close()
            try FileManager.default.removeItem(at: directory.log)
        }
        #expect(unknown * 2 < entries, "\(unknown) of \(entries) are not known")
    }

    enum Unread: CaseIterable { case recorded, inPart, accepted, confirmed, confirmedAlone }

    /// Code that reads the event may decide otherwise. An event that is read in part is tried on the views.
    /// A retry records such an event.
    @Test(arguments: Unread.allCases)
    func `the notes stop at an event that this code does not read`(event: Unread) async throws {
        var store = try await open()
        try await store.record(.created(channel: 1))
        let receipt = try await store.record(.posted(channel: 1, message: 1))
        if event == .confirmedAlone {
            for number in [1, receipt.number] { try await store.withdraw(number) }
        }
        #expect(try pastByNotes(store, at: 2) != nil)
        let unread =
            event == .inPart
            ? Self.codec.payload(
                reading: Array(#"{"created":{"channel":2,"color":"red"}}"#.utf8), format: .json)
            : Self.codec.payload(
                reading: [1, 2, 3], format: EventFormat(codec: 200, version: 1))
        #expect(!unread.isReadWhole && unread.isUnreadable == (event != .inPart))
        let work: Request.Work =
            switch event {
            case .recorded, .inPart:
                .command(
                    .record(Proposal(payload: unread, isConfirmOnly: false, once: nil, info: [:])),
                    isForced: event == .recorded)
            case .accepted:
                .answer(
                    .acknowledge(receipt.number, position: nil, replacement: unread), from: nil)
            case .confirmed, .confirmedAlone:
                .answer(
                    .confirm(
                        [Confirmed(position: 1, payload: unread, origin: nil)], through: nil),
                    from: nil)
            }
        let (requests, failure) = await store.core.runner.submit(contentsOf: [(work, 0)])
        #expect(failure == nil)
        for request in requests { _ = try await request.outcome() }
        try await store.record(.posted(channel: 1, message: 1), force: true)
        let headers = try store.core.storage.storedRows()
        #expect(!headers.isEmpty && headers.allSatisfy { $0.conflictsFrom == nil })
        for round in 1...2 {
            for sequence in 2...store.status.sequence.value as ClosedRange<UInt64> {
                #expect(try pastByNotes(store, at: LogSequence(sequence)) == nil, "\(round)")
                let past = try await store.snapshot(at: LogSequence(sequence))
                #expect(past.sequence == LogSequence(sequence))
            }
            #expect(try await store.verify().findings.isEmpty)
            await store.close()
            store = try await open()
        }
        await store.close()
    }

    @Test func `the notes of another choice, or of code that wrote none, are not used`()
        async throws
    {
        var store = try await open()
        try await store.record(.created(channel: 1))
        try await store.record(.posted(channel: 1, message: 1))
        #expect(try pastByNotes(store, at: 1) != nil)
        #expect(try pastByNotes(store, at: 2) != nil)
        await store.close()

        // Code that knows no notes writes the header without their start.
        let log = try LMDBLog.openExisting(directory.log.path) { ReplicaID("other")! }
        var batch = WriteBatch()
        for header in try log.storedRows() {
            batch.writeHeader(
                StoredRowsHeader(
                    number: header.number, identity: header.identity, schema: header.schema,
                    format: header.format, sequence: header.sequence))
        }
        try log.write(batch)
        log.close()
        store = try await open()
        #expect(try pastByNotes(store, at: 2) == nil)
        try await store.record(.created(channel: 2))
        #expect(try pastByNotes(store, at: 1) == nil)
        #expect(try pastByNotes(store, at: 2) != nil)
        #expect(try await store.snapshot(at: 1).view.keys == [1])
        await store.close()

        store = try await open(.perProjection)
        try await store.record(.created(channel: 3))
        #expect(try pastByNotes(store, at: 4) == nil)
        #expect(try await store.snapshot(at: 3).view.keys == [1, 2])
        await store.close()
    }

    @Test func `verify finds a note that differs, and one that is damaged`() async throws {
        let store = try await open()
        try await store.record(.created(channel: 1))
        try await store.record(.posted(channel: 1, message: 1))
        try await store.record(.posted(channel: 1, message: 1), force: true)
        try await store.record(.created(channel: 2))
        #expect(try await store.snapshot(at: 3).conflicted == [3])
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
        for (bytes, words) in [
            (ConflictNote(changes: []).encoded(at: 3), "after entry 3 differ"),
            ([1, 2, 3], "after entry 3: it has 3 bytes"),
        ] {
            let log = try LMDBLog.openExisting(directory.log.path) { ReplicaID("other")! }
            try log.write(RecordBuffer(), [TableWrite(.conflicts, .number(3), bytes)])
            log.close()
            let reader = try LogReader(at: directory.log)
            let also = [AdditionalProjection(MessageRows.self)]
            let findings = try reader.verify(Channels.self, also: also).findings
            #expect(findings.contains { $0.what.contains(words) }, "\(findings)")
            reader.close()
        }
        // Damaged notes are not used.
        let again = try await open()
        #expect(try pastByNotes(again, at: 4) == nil)
        #expect(try await again.snapshot(at: 4).view.counts == [1: 1, 2: 0])
        await again.close()
    }
}
