import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Views are a function of the log alone (F1). So the log notes which projections share their conflicts, and
/// code that lacks one of them must not show other views than the app did.
@Suite struct ConflictPolicyTests {
    private let directory = TemporaryDirectory()
    private static let messages = [AdditionalProjection(Messages.self)]

    private func open(
        _ policy: ConflictPolicy = .shared, also: [AdditionalProjection<Chat>] = messages
    ) async throws(LogError) -> Store<Channels> {
        try await Store.open(
            at: directory.log, Channels.self, also: also, conflicts: policy, confirmedBy: .downlink,
            durability: .relaxed, replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    /// Records a message without its channel.
    private func recordOrphan(_ message: Int, in store: Store<Channels>) async throws {
        _ = try await store.record(.posted(channel: 7, message: message), force: true)
    }

    private func messagesShown(
        _ store: Store<Channels>, at sequence: LogSequence? = nil
    ) async throws -> [Int] {
        let messages = store.projected(Messages.self)
        guard let sequence else { return messages.view.keys }
        return try await messages.snapshot(at: sequence).view.keys
    }

    private func names(_ error: LogError?) -> [String] {
        guard case .lacksProjections(_, let names) = error else { return ["\(error as Any)"] }
        return names
    }

    @Test func `F1: a log keeps the choice of each time it was open`() async throws {
        var store = try await open(.perProjection)
        try await recordOrphan(1, in: store)
        try await recordOrphan(2, in: store)
        #expect(try await messagesShown(store) == [1, 2])
        await store.close()

        // The choice holds from the last entry on, whose view the store shows now.
        store = try await open(.shared)
        #expect(try await messagesShown(store) == [])
        try await recordOrphan(3, in: store)
        await store.close()

        store = try await open(.perProjection)
        try await recordOrphan(4, in: store)
        #expect(try await messagesShown(store) == [1, 2, 3, 4])
        for (sequence, expected) in [(1, [1]), (2, []), (3, [1, 2, 3]), (4, [1, 2, 3, 4])] {
            let shown = try await messagesShown(store, at: LogSequence(UInt64(sequence)))
            #expect(shown == expected, "at \(sequence)")
        }
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
    }

    @Test func `F1: code that lacks a projection that shares gets a typed error`() async throws {
        var store = try await open()
        try await recordOrphan(1, in: store)
        await store.close()
        let before = try Data(contentsOf: directory.log.appending(path: "data.mdb"))

        let name = Messages.name
        for policy in [ConflictPolicy.shared, .perProjection, .shared.dropping("other")] {
            let refused = await error { () throws(LogError) in
                try await open(policy, also: [])
            }
            #expect(names(refused) == [name])
        }
        let reader = try LogReader(at: directory.log)
        let verifying = await error { () throws(LogError) in try reader.verify(Channels.self) }
        #expect(names(verifying) == [name])
        let past = await error { () throws(LogError) in
            try reader.snapshot(of: Channels.self, at: 1)
        }
        #expect(names(past) == [name])
        #expect(try reader.entries(from: 1, countMax: 9).count == 1)
        #expect(try reader.status().pendingCount == 1)
        let seen = try reader.snapshot(
            of: Messages.self, also: [AdditionalProjection(Channels.self)], at: 1)
        #expect(seen.conflicted == [1])
        #expect(
            try reader.verify(Channels.self, also: Self.messages).findings.isEmpty)
        reader.close()
        #expect(try Data(contentsOf: directory.log.appending(path: "data.mdb")) == before)

        store = try await open()
        #expect(try await messagesShown(store) == [])
        await store.close()
    }

    @Test func `an app can drop a projection on purpose`() async throws {
        var store = try await open()
        try await recordOrphan(1, in: store)
        await store.close()
        for _ in 1...2 {
            store = try await open(.shared.dropping(Messages.name), also: [])
            #expect(store.snapshot.conflicted == [1])
            // Past views that Messages shared need its code.
            let past = await error { () throws(LogError) in try await store.snapshot(at: 0) }
            #expect(names(past) == [Messages.name])
            #expect(try await store.snapshot(at: 1).conflicted == [1])
            await store.close()
        }
        // The dropped projection comes back, and shares again.
        store = try await open()
        #expect(try await messagesShown(store) == [])
        await store.close()
    }

    @Test func `a new projection shares from its first opening on`() async throws {
        var store = try await open(also: [])
        try await recordOrphan(1, in: store)
        await store.close()
        store = try await open()
        #expect(try await messagesShown(store) == [])
        #expect(try await messagesShown(store, at: 0) == [])
        await store.close()
    }

    @Test func `another order of the projections is not another choice`() async throws {
        let store = try await open()
        try await recordOrphan(1, in: store)
        await store.close()
        let other = try await Store.open(
            at: directory.log, Messages.self, also: [AdditionalProjection(Channels.self)],
            confirmedBy: .downlink, durability: .relaxed)
        #expect(other.snapshot.conflicted == [1])
        // The order that the log noted decides, so the reason is the same for both.
        #expect(other.snapshot.conflict(of: 1) == "TestSupport.Channels: no channel 7")
        await other.close()
    }

    @Test func `L5: a damaged note is an error, and not another choice`() async throws {
        let shared = SharedConflicts(periods: [
            .init(
                start: 3,
                members: [
                    .init(name: "A", kind: .value), .init(name: "B", kind: .rows),
                ]), .init(start: 9, members: []),
        ])
        #expect(try SharedConflicts(decoding: shared.encoded) == shared)
        var bytes = shared.encoded
        for index in bytes.indices {
            bytes[index] ^= 1
            #expect(throws: (any Error).self) { try SharedConflicts(decoding: bytes) }
            bytes[index] ^= 1
        }
        #expect(shared.members(at: 2).isEmpty && shared.members(at: 9).isEmpty)
        #expect(shared.members(at: 3).map(\.name) == ["A", "B"])
    }

    // MARK: Histories

    @Test func `an exported history folds as the log did`() async throws {
        let store = try await open()
        _ = try await store.record(.created(channel: 1))
        _ = try await store.record(.posted(channel: 1, message: 1))
        try await store.reject(1, message: "no")
        let history = try store.history()
        let own = store.projected(Messages.self).snapshot
        await store.close()
        let also = [AdditionalProjection(Channels.self)]
        let read = try RecordedHistory(ndjson: history.ndjson).read(by: Channels.codec)
        for history in [history, read] {
            let end = try history.snapshot(of: Messages.self, also: also)
            #expect(end.view == own.view && end.conflicted == [2])
            #expect(try history.snapshot(of: Messages.self, also: also, at: 2).view.keys == [1])
            let refused = await error { () throws(LogError) in
                try history.snapshot(of: Messages.self)
            }
            #expect(names(refused) == [Channels.name])
            let all = try history.snapshots(of: Messages.self, also: also).map(\.view.keys)
            #expect(all == [[], [1], []])
        }
        let branch = try read.branch([.drop(3)])
        let found = try read.divergences(of: branch, in: Messages.self, also: also)
        #expect(found.end.conflicts == [2])

        let copy = TemporaryDirectory()
        try await RecordedHistory(ndjson: history.ndjson).importLog(into: copy.log)
        let reader = try LogReader(at: copy.log)
        #expect(try reader.snapshot(of: Messages.self, also: also, at: 3).conflicted == [2])
        #expect(try reader.sharedConflicts() == history.shared)
        let place = JSONPointer("/channels/1")!
        #expect(
            try reader.causes(of: place, in: Messages.self, also: also).map(\.entry.sequence) == [
                2, 3,
            ])
        let story = try reader.story(of: 2, in: Messages.self, also: also)
        #expect(story.chapters.map(\.entry.sequence) == [2, 3])
        reader.close()
    }

    @Test func `a replay follows the choice from entry to entry`() async throws {
        var store = try await open(.perProjection)
        try await recordOrphan(1, in: store)
        await store.close()
        store = try await open(.shared)
        try await recordOrphan(2, in: store)
        await store.close()
        let reader = try LogReader(at: directory.log)
        var replay = try reader.replay(
            RowsInMemory<MessageRows>.self, also: [AdditionalProjection(Channels.self)])
        // The stored messages do not share, because the values do.
        while try replay.next() != nil {}
        #expect(replay.snapshot.conflicted == [])
        var lacking = try reader.replay(Messages.self)
        let refused = await error { () throws(LogError) in try lacking.next() }
        #expect(names(refused) == [Channels.name])
        var whole = try reader.replay(Messages.self, also: [AdditionalProjection(Channels.self)])
        var seen: [[Int]] = [whole.snapshot.view.keys]
        while try whole.next() != nil { seen.append(whole.snapshot.view.keys) }
        #expect(seen == [[], [], []])
        // A refused entry is not skipped.
        for _ in 1...3 {
            let again = await error { () throws(LogError) in try lacking.next() }
            #expect(names(again) == [Channels.name] && lacking.sequence == 0)
        }
        let rerun = try reader.rerun(
            Messages.self, Messages.self, also: [AdditionalProjection(Channels.self)])
        #expect(rerun.divergenceCount == 0)
        reader.close()
    }

    @Test func `a history keeps its choice when the first entry with it is gone`() async throws {
        var store = try await open(.perProjection)
        try await recordOrphan(1, in: store)
        try await recordOrphan(2, in: store)
        await store.close()
        // The choice begins at entry 2.
        store = try await open(.shared)
        let history = try store.history()
        await store.close()
        let also = [AdditionalProjection(Channels.self)]
        func shown(_ history: RecordedHistory<Chat>) throws -> [Int] {
            try history.snapshot(of: Messages.self, also: also).view.keys
        }
        #expect(try shown(history).isEmpty)
        #expect(try shown(history.branch([.drop(2)]).history).isEmpty)
        #expect(try shown(history.following(Array(history.records.prefix(1)))).isEmpty)
        #expect(try history.branch([.drop(1), .drop(2)]).history.count == 0)
        let small = try await history.minimized(candidatesMax: 100) {
            try shown($0).isEmpty && $0.count > 0
        }
        #expect(small.history.count == 1)

        // A past view has the choice of its own sequence, whether its entry is there or not.
        let gone = try RecordedHistory(
            kind: .downlink, replica: ReplicaID("me")!, entries: [history.entries[0]],
            codec: Channels.codec, sharingAsIn: history)
        #expect(try shown(gone).isEmpty)
        var third = history.entries[1]
        third = LogEntry(
            sequence: 3, time: third.time, replica: third.replica, info: [:],
            content: third.content)
        let holed = try RecordedHistory(
            kind: .downlink, replica: ReplicaID("me")!, entries: [history.entries[0], third],
            codec: Channels.codec, sharingAsIn: history)
        let past = (1...3).map { LogSequence($0) }
        let keys = try past.map {
            try holed.snapshot(of: Messages.self, also: also, at: $0).view.keys
        }
        #expect(keys == [[1], [], []])
    }

    @Test func `rows in memory take the place of their stored projection`() async throws {
        let store = try await Store.open(
            at: directory.log, Channels.self, also: [AdditionalProjection(MessageRows.self)],
            confirmedBy: .downlink, durability: .relaxed, replica: .exactly(ReplicaID("me")!))
        try await recordOrphan(1, in: store)
        let past = try await store.snapshot(of: RowsInMemory<MessageRows>.self, at: 1)
        #expect(past.conflicted == [1])
        // A projection that never shared is folded by itself.
        #expect(try await store.snapshot(of: Messages.self, at: 1).conflicted == [])
        await store.close()
        let reader = try LogReader(at: directory.log)
        let also = [AdditionalProjection(Channels.self)]
        let seen = try reader.snapshot(of: RowsInMemory<MessageRows>.self, also: also, at: 1)
        #expect(seen.conflicted == [1])
        reader.close()
    }
}
