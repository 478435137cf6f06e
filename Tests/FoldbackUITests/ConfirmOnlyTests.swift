import Foldback
import FoldbackUI
import Observation
import TestSupport
import Testing

/// A screen stopped its spinner before it had the result, and a second tap in between sent the order
/// twice. So these tests record the order: act, spinner, server, view, stop.
@MainActor @Suite struct ConfirmOnlyTests {
    private let screen = BoostScreen()

    private var pending: Bool { screen.model.status(of: "a").worst == .pending }

    /// Moves the clock to the next change of the wait, and waits until it is shown.
    private func pass(_ duration: Duration) async {
        let before = screen.progress.appearance
        await screen.clock.waitForSleepers(1)
        screen.clock.advance(by: duration)
        await until { screen.progress.appearance != before }
    }

    @Test func `#17: act, spinner, server, view, stop`() async throws {
        let story = Story(screen.model, screen.progress)
        story.tell("act")
        let performing = screen.boost()
        await until { pending }
        story.tell("the intent is recorded")
        await pass(.milliseconds(100))
        await pass(.milliseconds(900))
        let attempt = Attempt(count: 2, startedAt: Timestamp(millisecondsSince1970: 5))
        _ = try await screen.store.recordAttempts([1: attempt], flushes: false)
        await until { screen.model.status(of: "a").marks.first?.attempt == attempt }
        await pass(.seconds(2))
        story.tell("the server answers")
        try await screen.store.acknowledge(1)
        #expect(try await performing.value.content == .confirmed)
        await until { screen.phase == .ended(.succeeded) }
        story.tell("stop")
        #expect(
            story.lines == [
                "act",
                "instant, blocked, no effect",
                "the intent is recorded",
                "waiting, blocked, spinner, no effect",
                "waiting, blocked, spinner, \"Boosting\", no effect",
                "waiting, blocked, spinner, \"Still boosting, attempt 2\", no effect",
                "the server answers",
                "waiting, blocked, spinner, \"Still boosting, attempt 2\", the effect",
                "ended(succeeded), the effect",
                "stop",
            ])
    }

    @Test func `U27: a rejection ends the wait, which alone announces it`() async throws {
        let performing = screen.boost()
        await until { pending }
        try await screen.store.reject(1, message: "The budget is spent")
        await #expect(throws: IntentFailure.self) { try await performing.value }
        let recovery = Recovery(reason: "The budget is spent")
        #expect(screen.phase == .ended(.failed(recovery)))
        #expect(screen.model.rejections.count == 1)
        let failed = Cue.announce(.ended("boosting", .failed(recovery)), .assertive)
        #expect(await delivered(screen.progress.cues) == [failed])
        #expect(await delivered(screen.model.cues) == [])
    }

    @Test func `a canceled task leaves the intent, whose later rejection is announced`()
        async throws
    {
        let performing = screen.boost()
        await until { pending }
        performing.cancel()
        _ = await performing.result
        #expect(screen.phase == .ended(.continuedInBackground))
        try await screen.store.reject(1, message: "no")
        await until { screen.model.rejections.count == 1 }
        #expect(await delivered(screen.model.cues).count == 1)
    }

    @Test func `an intent that is taken back cancels the wait`() async throws {
        let performing = screen.boost()
        await until { pending }
        try await screen.model.withdraw(1)
        _ = await performing.result
        #expect(screen.phase == .ended(.cancelled))
    }

    @Test func `#40: a double action is one intent, and both wait for its answer`() async throws {
        let tasks = (0..<2).map { _ in screen.boost(once: "boost a") }
        await until { pending }
        #expect(screen.store.overlay.count == 1)
        try await screen.store.acknowledge(1)
        for task in tasks { #expect(try await task.value.intent == 1) }
        #expect(screen.phase == .ended(.succeeded))
    }

    @Test func `an event that cannot be recorded ends the wait with a failure`() async throws {
        await screen.store.close()
        await #expect(throws: IntentFailure.self) { try await screen.boost().value }
        let recovery = LogError.closed(path: "(in memory)").recovery
        #expect(screen.phase == recovery.map { .ended(.failed($0)) })
    }

    private func delivered(_ cues: Cues) async -> [Cue] {
        cues.finish()
        var delivered: [Cue] = []
        for await cue in cues { delivered.append(cue) }
        return delivered
    }
}

/// What a view shows at each change, as text.
@MainActor private final class Story {
    private(set) var lines: [String] = []
    private let model: OptimisticModel<Board>
    private let progress: ProgressModel

    init(_ model: OptimisticModel<Board>, _ progress: ProgressModel) {
        self.model = model
        self.progress = progress
        follow { model.view.cells }
        follow { progress.appearance }
    }

    func tell(_ line: String) {
        look()
        lines.append(line)
    }

    /// Adds a line before and after each change of what is read.
    private func follow<Value>(_ read: @escaping @MainActor () -> Value) {
        withObservationTracking {
            _ = read()
        } onChange: { [weak self] in
            MainActor.assumeIsolated { self?.look() }
            Task { @MainActor in
                self?.look()
                self?.follow(read)
            }
        }
    }

    private func look() {
        guard let seen = progress.appearance else { return }
        let phase = "\(seen.phase)".replacing("FoldbackUI.ProgressEnd.", with: "")
        let words = seen.text.map { "\"\(ProgressTexts.english.words(for: $0))\"" }
        let parts = [
            phase, seen.isBlocking ? "blocked" : nil,
            seen.isBlocking ? seen.indicator.map { "\($0)" } : nil, seen.isBlocking ? words : nil,
            model.view.cells.isEmpty ? "no effect" : "the effect",
        ]
        let line = parts.compactMap(\.self).joined(separator: ", ")
        if lines.last(where: { $0.contains("effect") }) != line { lines.append(line) }
    }
}
