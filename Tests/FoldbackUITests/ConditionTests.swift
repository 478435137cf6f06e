import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from screens that did not say that they could not save any more.
@MainActor @Suite struct ConditionTests {
    @Test func `L6: a model of a latched store says so, and keeps its view`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(Board.self, also: [.init(RowBoard.self)])
        let model = OptimisticModel(store, sources: Frames().sources)
        let rows = RowsModel(store, showing: RowBoard.self, sources: Frames().sources)
        let cell = rows.select { try $0.get("a", in: RowBoard.cells) }
        try await model.perform(.set("a", 1))
        storage.failWrites(leavingOutcomeUnknown: true)
        let failed = await failure { () throws(CommandError) in
            try await model.perform(.set("a", 2))
        }
        guard case .log(.outcomeUnknown(intent: 2, let cause)) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        // Nobody asks the models: the store tells them.
        await until { model.condition == .latched(cause) && rows.condition == .latched(cause) }
        let later = await failure { () throws(CommandError) in
            try await rows.perform(.set("a", 3))
        }
        guard case .log(.latched(cause)) = later else {
            Issue.record("\(String(describing: later))")
            return
        }
        await isRead(cell)
        #expect((model.view.cells, cell.value) == (["a": 1], .success(1)))
        #expect(model.status(of: "a").marks.map(\.number) == [1])
        await store.close()
        await until { model.condition == .closed && rows.condition == .closed }
    }

    @Test func `L5: a model of a store on damaged pages says so, and keeps its view`() async throws
    {
        let storage = DamagedLog()
        let core = try await StoreCore.open(
            codec: AppCodec(codec: Board.codec), projections: ProjectionSet(Board.self),
            clock: LogSources.counting().now, policy: .manual
        ) { () throws(LogError) in storage }
        let store = Store<Board>(core: core)
        let model = OptimisticModel(store, sources: Frames().sources)
        await until { model.condition == .damaged(reason: DamagedLog.finding) }
        let refused = await failure { () throws(CommandError) in
            try await model.perform(.set("a", 1))
        }
        guard case .log(.damaged(_, sequence: nil, reason: DamagedLog.finding)) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(model.view.cells == [:])
        await store.close()
    }

    @Test func `a model that cannot read a mark says so, and reads it with the next update`()
        async throws
    {
        let log = UnreadableLog()
        let store = try Store.withoutThread(
            Board.self, on: log, sources: .counting())
        let model = OptimisticModel(store, sources: Frames().sources)
        try await model.perform(.set("a", 1))
        try await store.reject(1, message: "no")
        await until { model.rejections.map(\.number) == [1] }
        try await model.perform(.set("b", 1))
        log.setReadable(false)
        try await store.reject(2, message: "no")
        await until { model.condition != .open }
        guard case .unreadable = model.condition else {
            Issue.record("\(model.condition)")
            return
        }
        #expect(model.view.cells == [:])
        #expect(model.rejections.map(\.number) == [1])
        #expect(model.status(of: "b") == .settled)

        log.setReadable(true)
        try await model.perform(.set("c", 1))
        #expect(model.condition == .open)
        #expect(model.rejections.map(\.number) == [1, 2])
        await store.close()
    }

    @Test func `F9: models show the faults of confirmed events`() async throws {
        let store = Store.inMemory(
            Board.self, also: [.init(RowBoard.self)], confirmedBy: .downlink,
            sources: .counting())
        let model = OptimisticModel(store, sources: Frames().sources)
        let rows = RowsModel(store, showing: RowBoard.self, sources: Frames().sources)
        let (ofModel, ofRows) = (
            Notifications { _ = model.faults }, Notifications { _ = rows.faults }
        )
        for position in 1...3 as ClosedRange<UInt64> {
            let move: Move = position == 2 ? .set("a", 1) : .add("a\(position)", 1)
            _ = try await store.confirm([
                ConfirmedEvent(position: Position(position), event: move)
            ])
            await until {
                model.revision == store.status.sequence && rows.revision == model.revision
            }
            #expect(model.faults == store.faults)
            #expect(rows.faults == store.projected(RowBoard.self).faults)
        }
        #expect(model.faults.count == 2)
        #expect(rows.faults.count == 2)
        let late = OptimisticModel(store, sources: Frames().sources)
        #expect(late.faults == store.faults)
        await until { ofModel.count == 2 && ofRows.count == 2 }
    }

    @Test func `a model shows any projection of its store`() async throws {
        let store = Store.inMemory(
            Board.self, also: [.init(SloppyBoard.self), .init(RowBoard.self)],
            confirmedBy: .acknowledgement, sources: .counting())
        let sloppy = OptimisticModel(
            store, showing: SloppyBoard.self, sources: Frames().sources)
        let rows = RowsModel(store, showing: RowBoard.self, sources: Frames().sources)
        let cells = rows.select { try $0.page(of: RowBoard.cells, limit: .max).map(\.row) }
        let receipt = try await sloppy.perform(.set("a", 30))
        try await rows.perform(.set("b", 5))
        await until { sloppy.revision == 2 }
        #expect(sloppy.view.sum == 35)
        #expect(sloppy.confirmed.sum == 0)
        #expect(cells.value == .success([30, 5]))
        #expect(rows.status(of: "a").worst == .pending)
        try await rows.withdraw(receipt.number)
        await until { sloppy.revision == 3 }
        #expect(sloppy.view.sum == 5)
        #expect(cells.value == .success([5]))
    }
}

/// Born from a screen whose buttons did nothing after the log was closed.
@MainActor @Suite struct ClosedModelTests {
    @Test func `U29: each command of a model throws that the store is closed`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: Frames().sources)
        try await model.perform(.set("a", 1))
        try await store.reject(1, message: "no")
        try await model.perform(.set("b", 1))
        await store.close()
        await expectClosed({ model.condition }) { () throws(CommandError) in
            _ = try await model.perform(.set("a", 2))
        } retry: { () throws(CommandError) in
            _ = try await model.retry(1)
        } dismiss: { () throws(CommandError) in
            try await model.dismiss(1)
        } withdraw: { () throws(CommandError) in
            try await model.withdraw(2)
        }
        #expect(model.view.cells == ["b": 1])
    }

    @Test func `U29: each command of a model of rows throws that the store is closed`()
        async throws
    {
        let store = Store.rowBoard()
        let model = RowsModel(store, sources: Frames().sources)
        try await model.perform(.set("a", 1))
        try await store.reject(1, message: "no")
        try await model.perform(.set("b", 1))
        await store.close()
        await expectClosed({ model.condition }) { () throws(CommandError) in
            _ = try await model.perform(.set("a", 2))
        } retry: { () throws(CommandError) in
            _ = try await model.retry(1)
        } dismiss: { () throws(CommandError) in
            try await model.dismiss(1)
        } withdraw: { () throws(CommandError) in
            try await model.withdraw(2)
        }
    }

    @Test func `U29: a confirm-only command with a wait throws that the store is closed`()
        async throws
    {
        let store = Store.board()
        let model = OptimisticModel(store, sources: Frames().sources)
        await store.close()
        let progress = ProgressModel(sources: Frames().sources)
        do throws(IntentFailure) {
            try await model.perform(confirmOnly: .set("a", 1), showing: Wait("a"), in: progress)
            Issue.record("a closed store records nothing")
        } catch {
            guard case .store(.log(.closed)) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    private typealias Command = @MainActor () async throws(CommandError) -> Void

    /// Expects that each command throws that the store is closed: at once, and also after the model
    /// has noticed it.
    private func expectClosed(
        _ condition: @escaping @MainActor () -> StoreCondition, perform: Command, retry: Command,
        dismiss: Command, withdraw: Command
    ) async {
        for _ in 0..<2 {
            await expectClosed(perform)
            await expectClosed(retry)
            await expectClosed(dismiss)
            await expectClosed(withdraw)
            await until { condition() == .closed }
        }
    }

    private func expectClosed(_ command: Command) async {
        let error = await failure(of: command)
        guard case .log(.closed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

/// The error of a failing command; nil if it did not throw.
@MainActor private func failure<R>(
    of command: @MainActor () async throws(CommandError) -> R
) async -> CommandError? {
    do throws(CommandError) {
        _ = try await command()
        return nil
    } catch {
        return error
    }
}

/// A log in memory that cannot be read while a test says so.
private final class UnreadableLog: ForwardingLog {
    let log = MemoryLog(kind: .acknowledgement, replica: ReplicaID("me")!)
    private let isReadable = Mutex(true)

    func setReadable(_ isReadable: Bool) { self.isReadable.withLock { $0 = isReadable } }

    func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        guard isReadable.withLock({ $0 }) else {
            throw .storage(
                StorageFailure(
                    path: path, reason: .system(errno: 5), detail: "on purpose",
                    leavesOutcomeUnknown: false))
        }
        try log.read(body)
    }
}

/// A log whose check of pages finds damage.
private final class DamagedLog: ForwardingLog {
    static let finding = "page 7 is free, and used"
    let log = MemoryLog(kind: .acknowledgement, replica: ReplicaID("me")!)

    func requireSoundPages() throws(StorageFailure) {
        throw StorageFailure(
            path: path, reason: .damagedFile, detail: Self.finding, leavesOutcomeUnknown: false,
            endsWriting: true)
    }
}
