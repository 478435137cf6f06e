import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// An app showed messages in a channel that its sidebar did not have: one projection had left the messages out
/// when the server rejected the channel, and the other had not (F9).
@Suite struct SharedConflictTests {
    private let directory = TemporaryDirectory()

    /// The four ways to keep channels and messages as values and rows, in memory and on disk.
    static let layouts = Engine.allCases.flatMap { engine in
        (0..<4).map { (engine, $0 / 2, $0 % 2) }
    }

    /// Opens a chat, calls `body`, and closes the chat.
    private func withChat(
        _ engine: Engine, _ channels: any ChatPart.Type, _ messages: any ChatPart.Type,
        _ policy: ConflictPolicy = .shared, _ kind: LogKind = .downlink,
        _ body: (any ChatStore) async throws -> Void
    ) async throws {
        func open<C: ChatPart, M: ChatPart>(_ channels: C.Type, _: M.Type) async throws {
            let store = try await engine.store(
                channels, kind, in: directory, also: [AdditionalProjection(M.self)],
                conflicts: policy)
            try await body(OpenChat<C, M>(store: store))
            await store.close()
        }
        try await open(channels, messages)
    }

    @Test(arguments: layouts)
    func `F9: a rejected channel takes its messages out of every projection`(
        engine: Engine, channels: Int, messages: Int
    ) async throws {
        try await withChat(engine, Chat.channels[channels], Chat.messages[messages]) { chat in
            try await chat.record(.created(channel: 1), .created(channel: 2))
            for message in 1...6 {
                try await chat.record(.posted(channel: 1 + message % 2, message: message))
            }
            #expect(try chat.shown() == ([1, 2], [1, 2, 3, 4, 5, 6], []))
            try await chat.reject(1)
            #expect(try chat.shown() == ([2], [1, 3, 5], [4, 6, 8]))
            #expect(try await chat.shown(at: 8) == ([1, 2], [1, 2, 3, 4, 5, 6], []))
            #expect(try await chat.shown(at: 9) == ([2], [1, 3, 5], [4, 6, 8]))
            // The channel of another replica brings them back.
            try await chat.confirm(.created(channel: 1))
            #expect(try chat.shown() == ([1, 2], [1, 2, 3, 4, 5, 6], []))
            #expect(try await chat.verify().findings.isEmpty)
        }
    }

    @Test(arguments: layouts)
    func `F9: an intent that leaves makes room for one that another projection refused`(
        engine: Engine, channels: Int, messages: Int
    ) async throws {
        try await withChat(engine, Chat.channels[channels], Chat.messages[messages]) { chat in
            try await chat.record(.created(channel: 1), .posted(channel: 1, message: 1))
            // The messages refuse the second one. So channel 2 must not count it, and channel 3 is fine.
            try await chat.record(
                .created(channel: 2), .posted(channel: 2, message: 1), force: true)
            try await chat.record(.created(channel: 3), .posted(channel: 3, message: 3))
            #expect(try chat.shown() == ([1, 2, 3], [1, 3], [4]))
            try await chat.reject(2)
            #expect(try chat.shown() == ([1, 2, 3], [1, 3], []))
            try await chat.reject(3)
            #expect(try chat.shown() == ([1, 3], [3], [4]))
            #expect(try await chat.verify().findings.isEmpty)
        }
    }

    @Test(arguments: layouts)
    func `F9: a confirmed event is applied by each projection that can`(
        engine: Engine, channels: Int, messages: Int
    ) async throws {
        for kind in LogKind.allCases {
            try await withChat(
                engine, Chat.channels[channels], Chat.messages[messages], .shared, kind
            ) { chat in
                try await chat.record(.posted(channel: 7, message: 7), force: true)
                try await chat.record(.created(channel: 1))
                #expect(try chat.shown() == ([1], [], [1]))
                // The server takes it. Confirming the head of the overlay is not a fast-forward here: the
                // views lacked the message.
                if kind == .acknowledgement {
                    try await chat.acknowledge(1)
                } else {
                    try await chat.confirm(.posted(channel: 7, message: 7), origin: 1)
                }
                #expect(try chat.shown() == ([1], [7], []))
                #expect(try chat.faultCounts() == [1, 0])
                try await chat.record(.posted(channel: 1, message: 8))
                try await chat.reject(3)
                #expect(try chat.shown() == ([1], [7], []))
                #expect(try await chat.verify().findings.isEmpty)
            }
            if engine == .lmdb { try FileManager.default.removeItem(at: directory.url) }
        }
    }

    @Test(arguments: layouts)
    func `F9: with conflicts per projection, each projection shows what it can`(
        engine: Engine, channels: Int, messages: Int
    ) async throws {
        let policy = ConflictPolicy.perProjection
        try await withChat(engine, Chat.channels[channels], Chat.messages[messages], policy) {
            chat in
            try await chat.record(.created(channel: 1), .posted(channel: 1, message: 1))
            try await chat.reject(1)
            #expect(try chat.keys() == ([], [1]))
        }
    }

    /// The article said that the messages come back when the user retries the channel.
    @Test func `F9: messages of a retried channel wait for its confirmation`()
        async throws
    {
        for isConfirmed in [true, false] {
            let store = try await Engine.memory.store(
                Channels.self, .downlink, in: directory,
                also: [AdditionalProjection(Messages.self)])
            _ = try await store.record(.created(channel: 1))
            _ = try await store.record(.posted(channel: 1, message: 1))
            try await store.reject(1, message: "not now")
            let retried = try await store.retry(1)
            #expect(retried.number == 3)
            #expect(store.snapshot.conflicted == [2])
            if isConfirmed {
                let event = ConfirmedEvent<Channels.Event>(
                    position: 1, event: .created(channel: 1),
                    origin: IntentID(replica: store.status.replica, number: 3))
                try await store.confirm([event], through: 1)
                #expect(store.snapshot.pending == [2])
            } else {
                try await store.withdraw(2)
                _ = try await store.record(.posted(channel: 1, message: 1))
                #expect(store.snapshot.pending == [3, 4])
            }
            #expect(store.snapshot.conflicted == [])
            await store.close()
        }
    }

    @Test func `a conflict names the projection that refuses`() async throws {
        let store = try await Engine.memory.store(
            Channels.self, .downlink, in: directory, also: [AdditionalProjection(Messages.self)])
        _ = try await store.record(.posted(channel: 7, message: 1), force: true)
        #expect(store.snapshot.conflict(of: 1) == "no channel 7")
        let messages = store.projected(Messages.self).snapshot
        #expect(messages.conflict(of: 1) == "TestSupport.Channels: no channel 7")
        #expect(messages.conflict(of: 2) == nil)
    }

    // MARK: Cost

    @Test func `a run of intents that one value refuses costs the other values nothing`()
        async throws
    {
        let store = try await Engine.memory.store(
            Messages.self, .downlink, in: directory, also: [AdditionalProjection(Channels.self)])
        _ = try await store.record(.created(channel: 1))
        for message in 1...1_000 {
            _ = try await store.record(.posted(channel: 1, message: message))
        }
        let before = store.projected.folded.counts
        try await store.reject(1, message: "no")
        #expect(store.snapshot.conflicted.count == 1_000)
        // The first message is applied and undone. From then on, the channels are asked first.
        #expect(store.projected.folded.counts.overlay - before.overlay == 1)
    }

    @Test func `a change that concerns only rows leaves the values as they are`() async throws {
        let store = try await Engine.memory.store(
            Channels.self, .downlink, in: directory, also: [AdditionalProjection(MessageRows.self)])
        _ = try await store.record(.created(channel: 1))
        for message in 1...100 {
            _ = try await store.record(.posted(channel: 1, message: message))
        }
        let counts = store.projected.folded.counts
        let head = ConfirmedEvent(
            position: 1, event: Chat.created(channel: 1),
            origin: IntentID(replica: ReplicaID("me")!, number: 1))
        try await store.confirm([head])
        #expect(store.projected.folded.counts.overlay == counts.overlay)
        try await store.reject(101, message: "no")
        #expect(store.projected.folded.counts.overlay == counts.overlay)
    }
}

/// A chat that is open, whatever its layout.
private protocol ChatStore {
    func record(_ events: Chat..., force: Bool) async throws
    func reject(_ number: IntentNumber) async throws
    func acknowledge(_ number: IntentNumber) async throws
    func confirm(_ event: Chat, origin: IntentNumber?) async throws
    func keys() throws -> ([Int], [Int])
    func shown(at sequence: LogSequence?) async throws -> ([Int], [Int], [IntentNumber])
    func shown() throws -> ([Int], [Int], [IntentNumber])
    func faultCounts() throws -> [Int]
    func verify() async throws -> Verification
}

extension ChatStore {
    func record(_ events: Chat..., force: Bool = false) async throws {
        for event in events { try await record(event, force: force) }
    }
    func confirm(_ event: Chat) async throws { try await confirm(event, origin: nil) }
}

private struct OpenChat<C: ChatPart, M: ChatPart>: ChatStore {
    let store: Store<C>

    func record(_ events: Chat..., force: Bool) async throws {
        for event in events { _ = try await store.record(event, force: force) }
    }
    func reject(_ number: IntentNumber) async throws {
        try await store.reject(number, message: "no")
    }
    func acknowledge(_ number: IntentNumber) async throws { try await store.acknowledge(number) }
    func confirm(_ event: Chat, origin: IntentNumber?) async throws {
        let next = Position(store.status.through.value + 1)
        let origin = origin.map { IntentID(replica: ReplicaID("me")!, number: $0) }
        try await store.confirm([ConfirmedEvent(position: next, event: event, origin: origin)])
    }
    func keys() throws -> ([Int], [Int]) {
        (try C.shown(in: store).keys, try M.shown(in: store).keys)
    }

    /// The keys of both, and the conflicted intents, which must be the same.
    func shown() throws -> ([Int], [Int], [IntentNumber]) {
        try agreed(C.shown(in: store), M.shown(in: store))
    }
    func shown(at sequence: LogSequence?) async throws -> ([Int], [Int], [IntentNumber]) {
        guard let sequence else { return try shown() }
        return agreed(
            try await C.shown(in: store, at: sequence), try await M.shown(in: store, at: sequence))
    }
    private func agreed(
        _ channels: (keys: [Int], conflicted: [IntentNumber]),
        _ messages: (keys: [Int], conflicted: [IntentNumber])
    ) -> ([Int], [Int], [IntentNumber]) {
        #expect(channels.conflicted == messages.conflicted)
        return (channels.keys, messages.keys, channels.conflicted)
    }
    func faultCounts() throws -> [Int] {
        [try C.faultCount(in: store), try M.faultCount(in: store)]
    }
    func verify() async throws -> Verification { try await store.verify() }
}

extension ChatPart {
    fileprivate static func faultCount<P: EventFold>(
        in store: Store<P>
    ) throws -> Int where P.Event == Chat {
        let published = store.core.published
        for rows in published.rows where rows.identity == identity { return rows.faults.count }
        for view in published.views where view.identity == identity {
            return try view.section().faults.count
        }
        return -1
    }
}
