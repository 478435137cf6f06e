import Foldback
import Synchronization
import TestSupport
import Testing

@testable import FoldbackUI

/// Born from a rejection that could not be read at first, and was never announced: what a model tells
/// about a store that is slow, fails, or is closed.
@MainActor @Suite struct StoreLinkTests {
    private let store = Store.rowBoard()

    private func link(
        _ failing: FaultyStore, _ parts: RowParts<RowBoard> = RowParts()
    ) -> StoreLink<Move> {
        StoreLink(
            failing, UpdateSource(at: 0, parts), from: store.core.published, nil,
            Frames().sources)
    }

    private func announcements(_ cues: Cues) async -> Int {
        cues.finish()
        var count = 0
        for await case .announce in cues { count += 1 }
        return count
    }

    @Test func `U15: a rejection that comes before the receipt is announced by the wait alone`()
        async throws
    {
        let faulty = FaultyStore(store)
        let link = link(faulty)
        let progress = ProgressModel(cues: link.cues, sources: ManualClock().sources)
        faulty.afterRecord.withLock {
            $0 = { [store] in
                _ = try? await store.reject(1, message: "no")
                await link.adoptNow()
            }
        }
        await #expect(throws: IntentFailure.self) {
            try await link.perform(
                .set("a", 1), showing: Wait("boosting"), in: progress, once: nil,
                recorded: { _ in })
        }
        let failed = ProgressEnd.failed(Recovery(reason: "no"))
        #expect(progress.appearance?.phase == .ended(failed))
        faulty.afterRecord.withLock { $0 = nil }
        let restarting = Task { await progress.perform(.restart) }
        while store.overlay.isEmpty { await Task.yield() }
        #expect(store.overlay.map(\.retries) == [1])
        try await store.acknowledge(2)
        await restarting.value
        #expect(progress.appearance?.phase == .ended(.succeeded))
        link.cues.finish()
        var cues: [Cue] = []
        for await cue in link.cues { cues.append(cue) }
        #expect(cues == [.announce(.ended("boosting", failed), .assertive)])
    }

    @Test func `U27: a rejection whose first read fails is announced once it is read`()
        async throws
    {
        let failing = FaultyStore(store, failures: [.storage(.broken)])
        let link = link(failing)
        _ = try await link.perform(
            .set("a", 1), from: .user(), confirmOnly: false, once: nil, replacing: nil, held: false)
        try await store.reject(1, message: "no")
        await link.adoptNow()
        guard case .unreadable = link.condition else {
            Issue.record("the condition is \(link.condition)")
            return
        }
        #expect(link.rejections == [])
        await link.adoptNow()
        #expect(link.condition == .open)
        #expect(link.rejections.map(\.number) == [1])
        await link.adoptNow()
        #expect(await announcements(link.cues) == 1)
    }

    @Test func `U15: a wait for an intent whose rejection cannot be read leaves it to the news`()
        async throws
    {
        let failing = FaultyStore(store, failures: [.storage(.broken), .storage(.broken)])
        let link = link(failing)
        let progress = ProgressModel(cues: link.cues, sources: ManualClock().sources)
        let performing = Task {
            try await link.perform(
                .set("a", 1), showing: Wait(.sending), in: progress, once: nil, recorded: { _ in })
        }
        while store.overlay.isEmpty { await Task.yield() }
        try await store.reject(1, message: "no")
        _ = await performing.result
        let failed = ProgressPhase.ended(.failed(Recovery(reason: "no")))
        #expect(progress.appearance?.phase == failed)
        for _ in 0..<3 { await link.adoptNow() }
        #expect(await announcements(link.cues) == 1)
    }

    @Test func `rows that were read before the store was closed are shown`() async throws {
        try await store.record(.set("a", 1))
        let failing = FaultyStore(store, failures: [.closed(path: "/log"), .closed(path: "/log")])
        let parts = RowParts<RowBoard>()
        let part = SpyPart()
        let listening = parts.add(part)
        let link = link(failing, parts)
        link.follow()
        try await store.reject(1, message: "no")
        await link.adoptNow()
        #expect(part.shown == [2])
        withExtendedLifetime(listening) {}
    }
}

extension StorageFailure {
    fileprivate static let broken = StorageFailure(
        path: "/log", reason: .other, detail: "broken", leavesOutcomeUnknown: false)
}

/// Reads sequences.
private final class SpyPart: RowPart {
    typealias P = RowBoard

    private let sequences = Mutex<[LogSequence]>([])

    /// The sequences that were shown.
    var shown: [LogSequence] { sequences.withLock { $0 } }

    func prepare() {}
    func isStale(at sequence: LogSequence) -> Bool { true }
    func fail(_ failure: ReadFailure) -> ShowPart? { nil }

    func read(_ reader: borrowing RowReader<RowBoard>) -> ShowPart? {
        let sequence = reader.sequence
        return { self.sequences.withLock { $0.append(sequence) } }
    }
}

/// A store whose first reads of rejected intents fail, and whose commands may return late.
private final class FaultyStore: UpdatedStore {
    private let store: Store<RowBoard>
    private let failures: Mutex<[LogError]>
    /// Runs after an intent is recorded, and before its receipt is returned.
    let afterRecord = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ store: Store<RowBoard>, failures: [LogError] = []) {
        self.store = store
        self.failures = Mutex(failures)
    }

    func rejectedIntent(
        _ number: IntentNumber, at sequence: LogSequence
    ) throws(LogError) -> (recorded: RecordedIntent, rejection: Rejection) {
        let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let failure { throw failure }
        return try store.rejectedIntent(number, at: sequence)
    }

    var core: StoreCore { store.core }

    func projected<Q: StoredProjection>(_ projection: Q.Type) -> ProjectedRows<Q>
    where Q.Event == Move { store.projected(projection) }

    func answers(after sequence: LogSequence) -> Answers { store.answers(after: sequence) }

    func listen(_ listener: @escaping @Sendable (_ isClosed: Bool) -> Void) -> Listening {
        store.listen(listener)
    }

    nonisolated(nonsending) func record(
        _ event: Move, force: Bool, confirmOnly: Bool, once: String?, replacing key: String?,
        held: Bool, info: [String: String]
    ) async throws(CommandError) -> Receipt {
        let receipt = try await store.record(
            event, force: force, confirmOnly: confirmOnly, once: once, replacing: key, held: held,
            info: info)
        await afterRecord.withLock { $0 }?()
        return receipt
    }

    nonisolated(nonsending) func record(
        contentsOf events: [Move], force: Bool, confirmOnly: Bool, once: String?, held: Bool,
        info: [String: String]
    ) async throws(CommandError) -> [Receipt] {
        try await store.record(
            contentsOf: events, force: force, confirmOnly: confirmOnly, once: once, held: held,
            info: info)
    }

    nonisolated(nonsending) func release(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await store.release(number)
    }

    nonisolated(nonsending) func undo(
        _ number: IntentNumber, force: Bool
    ) async throws(CommandError) -> Reversed {
        try await store.undo(number, force: force)
    }

    nonisolated(nonsending) func redo(
        _ number: IntentNumber, force: Bool
    ) async throws(CommandError) -> Reversed {
        try await store.redo(number, force: force)
    }

    nonisolated(nonsending) func retry(
        _ number: IntentNumber, with edited: Move?, force: Bool
    ) async throws(CommandError) -> Receipt {
        try await store.retry(number, with: edited, force: force)
    }

    nonisolated(nonsending) func dismiss(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await store.dismiss(number)
    }

    nonisolated(nonsending) func withdraw(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await store.withdraw(number)
    }
}
