import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from an app that needed 100 lines of its own to cancel and restart the wait of an intent.
@MainActor @Suite struct WaitActionTests {
    private let clock = ManualClock()
    private let store = Store.board()
    private let model: OptimisticModel<Board>
    private let progress: ProgressModel
    private let wait = Wait(
        "boosting", presentation: .obstructive(.items("a")), initiator: .user(origin: "boost"),
        isDurable: true)

    init() {
        model = OptimisticModel(store, sources: Frames().sources)
        progress = ProgressModel(sources: clock.sources)
    }

    private func perform(
        _ recorded: @escaping @MainActor (Receipt) -> Void = { _ in }
    ) -> Task<Answer, any Error> {
        Task {
            try await model.perform(
                confirmOnly: .set("a", 1), showing: wait, in: progress, recorded: recorded)
        }
    }

    private var phase: ProgressPhase? { progress.appearance?.phase }
    private let no = Recovery(reason: "no")

    private func isPending(_ number: IntentNumber) async {
        await until { model.status(of: "a").marks.map(\.number) == [number] }
    }

    /// Waits until the wait can be canceled.
    private func isLong() async {
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        await until { progress.appearance?.actions == [.cancel, .continueInBackground] }
    }

    @Test func `#8: to cancel a wait takes back the intent`() async throws {
        let performing = perform()
        await isPending(1)
        await isLong()
        await progress.perform(.cancel)
        await #expect(throws: IntentFailure.self) { try await performing.value }
        #expect(phase == .ended(.cancelled))
        #expect(try store.intent(1).state == .withdrawn)
        #expect(progress.appearance?.isBlocking == false)
    }

    @Test func `#8: an intent that has left the device goes on when its wait is canceled`()
        async throws
    {
        let performing = perform()
        await isPending(1)
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 5))
        _ = try await store.recordAttempts([1: attempt], flushes: false)
        await isLong()
        await progress.perform(.cancel)
        #expect(phase == .ended(.continuedInBackground))
        #expect(progress.appearance?.isBlocking == false)
        try await store.acknowledge(1)
        #expect(try await performing.value.intent == 1)
        #expect(phase == .ended(.continuedInBackground))
    }

    @Test func `an action that the wait does not offer does nothing`() async throws {
        let performing = perform()
        await isPending(1)
        await progress.perform(.cancel)
        await progress.perform(.restart)
        #expect(phase == .instant)
        #expect(store.overlay.count == 1)
        try await store.acknowledge(1)
        _ = try await performing.value
        await progress.perform(.restart)
        #expect(phase == .ended(.succeeded))
    }

    @Test func `#56: to restart a wait after a rejection retries the intent, and blocks again`()
        async throws
    {
        var receipts: [IntentNumber] = []
        let performing = perform { receipts.append($0.number) }
        await isPending(1)
        try await store.reject(1, message: "no")
        await #expect(throws: IntentFailure.self) { try await performing.value }
        #expect(phase == .ended(.failed(no)))
        #expect(progress.appearance?.actions == [.restart])

        let restarting = Task { await progress.perform(.restart) }
        await isPending(2)
        #expect(phase == .instant)
        #expect(progress.appearance?.blocked == .items("a"))
        #expect(model.view.cells == [:])
        try await store.acknowledge(2)
        await restarting.value
        #expect(phase == .ended(.succeeded))
        #expect(model.view.cells == ["a": 1])
        #expect(receipts == [1, 2])
        #expect(model.rejections == [])
    }

    @Test func `a restart after the rejection was dismissed ends the wait`() async throws {
        let performing = perform()
        await isPending(1)
        try await store.reject(1, message: "no")
        _ = await performing.result
        try await model.dismiss(1)
        await progress.perform(.restart)
        #expect(phase == .ended(.cancelled))
        #expect(store.overlay.isEmpty)
    }

    @Test func `U14: to restart a stalled wait begins it from the start, with the same intent`()
        async throws
    {
        let performing = perform()
        await isPending(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        await until { progress.appearance?.actions.contains(.restart) == true }
        await progress.perform(.restart)
        #expect(phase == .instant)
        #expect(store.overlay.map(\.number) == [1])
        try await store.acknowledge(1)
        _ = try await performing.value
        #expect(phase == .ended(.succeeded))
    }

    @Test func `the waits of a model show why answers are late, and other waits do not`()
        async throws
    {
        let other = ProgressModel(sources: clock.sources)
        other.start(Wait(.loading))
        model.waitCause = .offline
        let performing = perform()
        await isPending(1)
        clock.advance(by: .seconds(30))
        await until { phase == .long }
        #expect(
            progress.appearance?.text.map(ProgressTexts.english.words)?.contains("online") ?? false)
        await until { other.appearance?.phase == .stalled(Recovery()) }
        model.waitCause = .unknown
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        await until { phase == .stalled(Recovery()) }
        model.waitCause = .slow
        #expect(phase != .stalled(Recovery()))
        try await store.acknowledge(1)
        _ = try await performing.value
    }

    @Test func `the wait of other work carries out its actions as the work says`() async throws {
        let run = progress.start(wait)
        var done: [WaitAction] = []
        run.onAction { action in
            done.append(action)
            run.handle(.restarted)
        }
        run.handle(.failed(no))
        await progress.perform(.restart)
        #expect(done == [.restart])
        #expect(phase == .instant)
        // Another wait has no such work.
        progress.start(Wait(.loading)).handle(.failed(no))
        await progress.perform(.restart)
        #expect(done == [.restart])
        #expect(phase == .instant)
    }

    @Test func `U29: a wait that has ended keeps no work`() async throws {
        final class Kept: Sendable {}
        weak var freed: Kept?
        do {
            let kept = Kept()
            freed = kept
            let run = progress.start(wait)
            run.onAction { _ in withExtendedLifetime(kept) {} }
            run.handle(.failed(no))
        }
        #expect(freed != nil)
        progress.finish()
        #expect(freed == nil)
    }

    @Test func `a failure of the disk says what is wrong, and not to check the connection`() {
        let full = StorageFailure.full
        let failure = IntentFailure.store(.storage(full))
        let words = ProgressTexts.english.words(for: .ended(.sending, ProgressEnd(failure)))
        #expect(words.contains("disk is full") && words.contains("Try again"))
        #expect(!words.contains("connection"))
        let closed = IntentFailure.store(.closed(path: "/log"))
        #expect(closed.recovery?.canRestart == false)
        #expect(closed.recovery?.reason?.contains("closed") == true)
        let large = FoldbackError.tooLarge(what: "the event", bytes: 9, bytesMax: 8)
        #expect(large.recovery?.canRestart == false)
        #expect(FoldbackError.cancelled.recovery == nil)
    }
}

extension StorageFailure {
    fileprivate static let full = StorageFailure(
        path: "/log", reason: .diskFull(freeBytes: 0), detail: "the disk is full",
        leavesOutcomeUnknown: false)
}
