import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from an app that needed 100 lines of its own to cancel and restart the wait of an intent.
@MainActor @Suite struct WaitActionTests {
    private let screen = BoostScreen()
    private let no = Recovery(reason: "no")

    private func isPending(_ number: IntentNumber) async {
        await until { screen.model.status(of: "a").marks.map(\.number) == [number] }
    }

    /// Waits until the wait can be canceled.
    private func isLong() async {
        await screen.clock.waitForSleepers(1)
        screen.clock.advance(by: .seconds(10))
        await until { screen.progress.appearance?.actions == [.cancel, .continueInBackground] }
    }

    @Test func `#8: to cancel a wait takes back the intent`() async throws {
        let performing = screen.boost()
        await isPending(1)
        await isLong()
        await screen.progress.perform(.cancel)
        await #expect(throws: IntentFailure.self) { try await performing.value }
        #expect(screen.phase == .ended(.cancelled))
        #expect(try screen.store.intent(1).state == .withdrawn)
        #expect(screen.progress.appearance?.isBlocking == false)
    }

    @Test func `#8: an intent that has left the device goes on when its wait is canceled`()
        async throws
    {
        let performing = screen.boost()
        await isPending(1)
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 5))
        _ = try await screen.store.recordAttempts([1: attempt], flushes: false)
        await isLong()
        await screen.progress.perform(.cancel)
        #expect(screen.phase == .ended(.continuedInBackground))
        #expect(screen.progress.appearance?.isBlocking == false)
        try await screen.store.acknowledge(1)
        #expect(try await performing.value.intent == 1)
        #expect(screen.phase == .ended(.continuedInBackground))
    }

    @Test func `an action that the wait does not offer does nothing`() async throws {
        let performing = screen.boost()
        await isPending(1)
        await screen.progress.perform(.cancel)
        await screen.progress.perform(.restart)
        #expect(screen.phase == .instant)
        #expect(screen.store.overlay.count == 1)
        try await screen.store.acknowledge(1)
        _ = try await performing.value
        await screen.progress.perform(.restart)
        #expect(screen.phase == .ended(.succeeded))
    }

    @Test func `#56: to restart a wait after a rejection retries the intent, and blocks again`()
        async throws
    {
        var receipts: [IntentNumber] = []
        let performing = screen.boost { receipts.append($0.number) }
        await isPending(1)
        try await screen.store.reject(1, message: "no")
        await #expect(throws: IntentFailure.self) { try await performing.value }
        #expect(screen.phase == .ended(.failed(no)))
        #expect(screen.progress.appearance?.actions == [.restart])

        let restarting = Task { await screen.progress.perform(.restart) }
        await isPending(2)
        #expect(screen.phase == .instant)
        #expect(screen.progress.appearance?.blocked == .items("a"))
        #expect(screen.model.view.cells == [:])
        try await screen.store.acknowledge(2)
        await restarting.value
        #expect(screen.phase == .ended(.succeeded))
        #expect(screen.model.view.cells == ["a": 1])
        #expect(receipts == [1, 2])
        #expect(screen.model.rejections == [])
    }

    @Test func `a restart after the rejection was dismissed ends the wait`() async throws {
        let performing = screen.boost()
        await isPending(1)
        try await screen.store.reject(1, message: "no")
        _ = await performing.result
        try await screen.model.dismiss(1)
        await screen.progress.perform(.restart)
        #expect(screen.phase == .ended(.cancelled))
        #expect(screen.store.overlay.isEmpty)
    }

    @Test func `U14: to restart a stalled wait begins it from the start, with the same intent`()
        async throws
    {
        let performing = screen.boost()
        await isPending(1)
        // A sign of life that comes late begins the time again.
        while screen.progress.appearance?.actions.contains(.restart) != true {
            screen.clock.advance(by: .seconds(30))
            await Task.yield()
        }
        await screen.progress.perform(.restart)
        #expect(screen.phase == .instant)
        #expect(screen.store.overlay.map(\.number) == [1])
        try await screen.store.acknowledge(1)
        _ = try await performing.value
        #expect(screen.phase == .ended(.succeeded))
    }

    @Test func `the waits of a model show why answers are late, and other waits do not`()
        async throws
    {
        let other = ProgressModel(sources: screen.clock.sources)
        other.start(Wait(.loading))
        screen.model.waitCause = .offline
        let performing = screen.boost()
        await isPending(1)
        screen.clock.advance(by: .seconds(30))
        await until { screen.phase == .long }
        #expect(
            screen.progress.appearance?.text.map(ProgressTexts.english.words)?.contains("online")
                ?? false)
        await until { other.appearance?.phase == .stalled(Recovery()) }
        screen.model.waitCause = .unknown
        await screen.clock.waitForSleepers(1)
        screen.clock.advance(by: .seconds(30))
        await until { screen.phase == .stalled(Recovery()) }
        screen.model.waitCause = .slow
        #expect(screen.phase != .stalled(Recovery()))
        try await screen.store.acknowledge(1)
        _ = try await performing.value
    }

    @Test func `the wait of other work carries out its actions as the work says`() async throws {
        let run = screen.progress.start(screen.wait)
        var done: [WaitAction] = []
        run.onAction { action in
            done.append(action)
            run.handle(.restarted)
        }
        run.handle(.failed(no))
        await screen.progress.perform(.restart)
        #expect(done == [.restart])
        #expect(screen.phase == .instant)
        // Another wait has no such work.
        screen.progress.start(Wait(.loading)).handle(.failed(no))
        await screen.progress.perform(.restart)
        #expect(done == [.restart])
        #expect(screen.phase == .instant)
    }

    @Test func `U29: a wait that has ended keeps no work`() async throws {
        final class Kept: Sendable {}
        weak var freed: Kept?
        do {
            let kept = Kept()
            freed = kept
            let run = screen.progress.start(screen.wait)
            run.onAction { _ in withExtendedLifetime(kept) {} }
            run.handle(.failed(no))
        }
        #expect(freed != nil)
        screen.progress.finish()
        #expect(freed == nil)
    }

    @Test func `a failure of the disk says what is wrong, and not to check the connection`() {
        let full = StorageFailure.full
        let failure = IntentFailure.store(.log(.storage(full)))
        let words = ProgressTexts.english.words(for: .ended(.sending, ProgressEnd(failure)))
        #expect(words.contains("disk is full") && words.contains("Try again"))
        #expect(!words.contains("connection"))
        let closed = IntentFailure.store(.log(.closed(path: "/log")))
        #expect(closed.recovery?.canRestart == false)
        #expect(closed.recovery?.reason?.contains("closed") == true)
        let large = CommandError.tooLarge(what: "the event", bytes: 9, bytesMax: 8)
        #expect(large.recovery?.canRestart == false)
        #expect(LogError.cancelled.recovery == nil)
    }
}

extension StorageFailure {
    fileprivate static let full = StorageFailure(
        path: "/log", reason: .diskFull(freeBytes: 0), detail: "the disk is full",
        leavesOutcomeUnknown: false)
}
