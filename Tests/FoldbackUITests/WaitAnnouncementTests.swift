import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from waits that had dropped the news of a rejection, and were no longer shown when it came.
@MainActor @Suite struct WaitAnnouncementTests {
    private let clock = ManualClock()
    private let store = Store.board()
    private let model: OptimisticModel<Board>
    private let progress: ProgressModel
    /// All that is announced, and read by somebody.
    private let cues: Cues
    private let wait = Wait("boosting", initiator: .user(origin: "boost"), isDurable: true)

    init() {
        cues = Cues(sources: clock.sources)
        model = OptimisticModel(store, cues: cues, sources: Frames().sources)
        progress = ProgressModel(cues: cues, sources: clock.sources)
    }

    private func perform(
        _ key: String = "a", _ wait: Wait? = nil, in progress: ProgressModel? = nil,
        once: String? = nil
    ) -> Task<Answer, any Error> {
        Task {
            try await model.perform(
                confirmOnly: .set(key, 1), showing: wait ?? self.wait,
                in: progress ?? self.progress, once: once)
        }
    }

    /// Rejects an intent, and returns the assertive announcements.
    private func rejected(
        _ number: IntentNumber, _ performing: [Task<Answer, any Error>]
    ) async throws -> [ProgressText] {
        try await store.reject(number, message: "no")
        for task in performing { _ = await task.result }
        await until { model.rejections.count == 1 }
        cues.finish()
        var texts: [ProgressText] = []
        for await case .announce(let text, .assertive) in cues { texts.append(text) }
        return texts
    }

    private let ofModel = ProgressText.ended(.sending, .failed(Recovery(reason: "no")))
    private let ofWait = ProgressText.ended("boosting", .failed(Recovery(reason: "no")))

    private func isPending(_ key: String = "a") async {
        await until { model.status(of: key).worst == .pending }
    }

    @Test func `U15: a wait that continues in the background leaves a rejection to the model`()
        async throws
    {
        let performing = perform()
        await isPending()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        await until { progress.appearance?.phase == .long }
        await progress.perform(.continueInBackground)
        #expect(progress.appearance?.phase == .ended(.continuedInBackground))
        #expect(try await rejected(1, [performing]) == [ofModel])
    }

    @Test func `U15: a wait that is removed leaves a rejection to the model`() async throws {
        let performing = perform()
        await isPending()
        progress.finish()
        #expect(try await rejected(1, [performing]) == [ofModel])
    }

    @Test func `U15: a wait that is superseded leaves a rejection to the model`() async throws {
        let first = perform("a")
        await isPending("a")
        let second = perform("b")
        await isPending("b")
        #expect(try await rejected(1, [first]) == [ofModel])
        #expect(progress.appearance?.phase == .instant)
        try await store.acknowledge(2)
        _ = try await second.value
    }

    @Test(arguments: [false, true])
    func `U15: a rejection that two waits have joined is announced once`(isShared: Bool)
        async throws
    {
        let other =
            isShared ? progress : ProgressModel(cues: cues, sources: clock.sources)
        let first = perform(once: "boost")
        await isPending()
        let second = perform(in: other, once: "boost")
        // The second wait has joined once its own wait is shown and its task waits.
        await until { other.appearance != nil }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(store.overlay.count == 1)
        #expect(try await rejected(1, [first, second]) == [ofWait])
        #expect(progress.appearance?.phase == .ended(.failed(Recovery(reason: "no"))))
        #expect(other.appearance?.phase == .ended(.failed(Recovery(reason: "no"))))
    }

    @Test func `U15: of two joined waits, the wait that goes on announces the rejection`()
        async throws
    {
        let other = ProgressModel(cues: cues, sources: clock.sources)
        let first = perform(in: other, once: "boost")
        await isPending()
        var isJoined = false
        let second = Task {
            try await model.perform(
                confirmOnly: .set("a", 1), showing: wait, in: progress, once: "boost"
            ) { isJoined = $0.isJoined }
        }
        for _ in 0..<1_000_000 where !isJoined { await Task.yield() }
        first.cancel()
        _ = await first.result
        #expect(other.appearance?.phase == .ended(.continuedInBackground))
        #expect(try await rejected(1, [second]) == [ofWait])
    }

    @Test func `U15: a person's intent that a wait of the app has joined is announced`()
        async throws
    {
        try await model.perform(.set("a", 1), confirmOnly: true, once: "boost")
        let silent = Wait("boosting", initiator: .app)
        let joined = perform("a", silent, once: "boost")
        await until { progress.appearance != nil }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(try await rejected(1, [joined]) == [ofModel])
    }

    @Test func `a task that is canceled before its intent is recorded cancels its wait`()
        async throws
    {
        let performing = perform()
        performing.cancel()
        let result = await performing.result
        guard case .failure(IntentFailure.store(.log(.cancelled))) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(store.overlay.isEmpty)
        #expect(progress.appearance?.phase == .ended(.cancelled))
    }

    @Test func `a canceled task leaves its intent, which goes on in the background`() async throws {
        let performing = perform("a", Wait("boosting"))
        await isPending()
        performing.cancel()
        _ = await performing.result
        #expect(store.overlay.count == 1)
        #expect(progress.appearance?.phase == .ended(.continuedInBackground))
    }

    @Test func `a durable wait in a canceled task is canceled, because no work is begun`() async {
        let task = Task {
            try await progress.run(Wait(.saving, isDurable: true)) { _ in
                try Task.checkCancellation()
            }
        }
        task.cancel()
        _ = await task.result
        #expect(progress.appearance?.phase == .ended(.cancelled))
    }
}
