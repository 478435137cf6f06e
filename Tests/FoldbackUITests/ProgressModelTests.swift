import FoldbackUI
import Observation
import Synchronization
import Testing

/// The model has the only timer of a wait. A timer too many wakes an idle device, a timer too few
/// leaves a spinner on the screen, and a timer that holds its model leaks it.
@MainActor @Suite struct ProgressModelTests {
    private let clock = ManualClock()

    private func model(_ cues: Cues? = nil) -> ProgressModel {
        ProgressModel(cues: cues, sources: clock.sources)
    }

    /// Lets the tasks run that are ready on the main actor.
    private func until(_ condition: () -> Bool) async throws {
        for _ in 0..<10_000 {
            if condition() { return }
            await Task.yield()
        }
        Issue.record("the condition does not become true")
    }

    /// Ends the cues, and returns those that wait.
    private func delivered(_ cues: Cues) async -> [Cue] {
        cues.finish()
        var delivered: [Cue] = []
        for await cue in cues { delivered.append(cue) }
        return delivered
    }

    /// Moves the clock to its next wake-up, and waits until the model shows the result.
    private func wake(_ model: ProgressModel) async throws {
        await clock.waitForSleepers(1)
        let before = model.appearance
        let next = try #require(clock.wakeUps.first)
        clock.advance(by: clock.now.duration(to: next))
        try await until { model.appearance != before }
    }

    @Test func `U18: there is one timer, for the next change, and none when nothing changes`()
        async throws
    {
        let model = model()
        #expect(clock.wakeUps == [])
        model.start(Wait(.loading, initiator: .app))
        for seconds in [0.1, 1, 3, 10, 30] {
            await clock.waitForSleepers(1)
            #expect(clock.wakeUps == [.seconds(seconds)])
            try await wake(model)
        }
        #expect(model.appearance?.phase == .stalled(Recovery()))
        await Task.yield()
        #expect(clock.wakeUps == [])
    }

    @Test func `U18: an input moves the timer, and an end removes it`() async throws {
        let model = model()
        model.start(Wait(.loading, initiator: .app))
        clock.advance(by: .seconds(20))
        try await until { model.appearance?.phase == .long }
        await clock.waitForSleepers(1)
        #expect(clock.wakeUps == [.seconds(30)])
        model.handle(.signOfLife)
        try await until { clock.wakeUps == [.seconds(50)] }
        model.handle(.succeeded)
        #expect(model.appearance?.phase == .ended(.succeeded))
        try await until { clock.wakeUps == [] }
    }

    @Test func `U18: an input that changes nothing visible notifies nobody`() {
        let model = model()
        model.start(Wait(.loading))
        model.handle(.reduceMotion(false))
        let notifications = Atomic(0)
        func observe() {
            withObservationTracking {
                _ = model.appearance
            } onChange: {
                notifications.add(1, ordering: .relaxed)
            }
        }
        observe()
        model.handle(.signOfLife)
        model.handle(.reduceMotion(true))
        model.handle(.cause(.slow))
        model.handle(.fraction(0.5))
        #expect(notifications.load(ordering: .relaxed) == 0)
        clock.advance(by: .seconds(1))
        model.handle(.fraction(0.6))
        #expect(notifications.load(ordering: .relaxed) == 1)
        observe()
        model.handle(.fraction(0.6))
        #expect(notifications.load(ordering: .relaxed) == 1)
    }

    @Test func `U18: a model is freed while its timer runs, and its own cues end`() async throws {
        var model: ProgressModel? = model()
        let shared = Cues(sources: clock.sources)
        var other: ProgressModel? = self.model(shared)
        model?.start(Wait(.loading))
        other?.start(Wait(.loading))
        let cues = try #require(model?.cues)
        weak let freed = model
        weak let freedToo = other
        await clock.waitForSleepers(2)
        (model, other) = (nil, nil)
        #expect(freed == nil)
        #expect(freedToo == nil)
        try await until { clock.wakeUps == [] }
        var iterator = cues.makeAsyncIterator()
        #expect(await iterator.next() == nil)
        shared.send([.moveFocus(.top)])
        var sharedIterator = shared.makeAsyncIterator()
        #expect(await sharedIterator.next() == .moveFocus(.top))
    }

    @Test func `U16: the appearance changes before its cue is delivered`() async throws {
        let model = model()
        model.start(
            Wait("signing in", presentation: .obstructive(.all), initiator: .user(origin: "button"))
        )
        #expect(model.appearance?.isBlocking == true)
        var cues = model.cues.makeAsyncIterator()
        try await wake(model)
        #expect(await cues.next() == .moveFocus(.indicator))
        #expect(model.appearance?.indicator == .spinner)
        try await wake(model)
        #expect(await cues.next() == .announce(.activity("signing in"), .polite))
        model.handle(.failed(Recovery(reason: "wrong")))
        #expect(model.appearance?.isBlocking == false)
        #expect(await cues.next() == .restoreFocus(.origin("button")))
        #expect(
            await cues.next()
                == .announce(
                    .ended("signing in", .failed(Recovery(reason: "wrong"))), .assertive))
    }

    @Test func `U12: starting an equal wait again keeps the indicator`() async throws {
        let model = model()
        let wait = Wait(.loading)
        model.start(wait)
        try await wake(model)
        model.handle(.fraction(0.5))
        clock.advance(by: .milliseconds(10))
        model.handle(.succeeded)
        model.start(wait)
        #expect(model.appearance?.phase == .instant)
        #expect(model.appearance?.indicator == .spinner)
        #expect(model.appearance?.fraction == 0)
        model.handle(.succeeded)
        clock.advance(by: .seconds(1))
        model.start(wait)
        #expect(model.appearance?.indicator == nil)
        clock.advance(by: .seconds(1))
        model.handle(.signOfLife)
        #expect(model.appearance?.indicator == .spinner)
        #expect(model.appearance?.fraction == nil)
    }

    @Test func `U16: another wait cancels the wait before it, and the focus returns`() async throws
    {
        let model = model()
        let cues = model.cues
        model.start(Wait(.saving, presentation: .obstructive(.all)))
        clock.advance(by: .milliseconds(100))
        model.handle(.signOfLife)
        model.start(Wait(.loading))
        #expect(model.appearance?.wait.kind == .loading)
        model.finish()
        #expect(model.appearance == nil)
        try await until { clock.wakeUps == [] }
        #expect(await delivered(cues) == [.moveFocus(.indicator), .restoreFocus(.previous)])
    }

    @Test func `U18: a late input of an old wait changes nothing`() {
        let model = model()
        let old = model.start(Wait(.loading))
        let new = model.start(Wait(.loading))
        let before = model.appearance
        old.handle(.succeeded)
        old.handle(.failed(Recovery()))
        old.handle(.restarted)
        #expect(model.appearance == before)
        new.handle(.succeeded)
        #expect(model.appearance?.phase == .ended(.succeeded))
        old.handle(.restarted)
        #expect(model.appearance?.phase == .ended(.succeeded))
        model.finish()
        new.handle(.restarted)
        #expect(model.appearance == nil)
    }

    @Test func `U12: an indicator that no view has drawn before the end is not drawn after it`()
        async
    {
        let model = model()
        let cues = model.cues
        model.start(Wait(.saving, presentation: .obstructive(.all), initiator: .user(origin: "b")))
        // The main actor is busy, so the timer's task does not run.
        clock.advance(by: .seconds(5))
        model.handle(.succeeded)
        #expect(model.appearance?.phase == .ended(.succeeded))
        #expect(model.appearance?.indicator == nil)
        #expect(await delivered(cues) == [])
    }

    @Test func `U16: a model that is released gives the focus back`() async {
        let shared = Cues(sources: clock.sources)
        var model: ProgressModel? = model(shared)
        model?.start(Wait(.saving, presentation: .obstructive(.all)))
        clock.advance(by: .milliseconds(100))
        model?.handle(.signOfLife)
        model = nil
        let cues = await delivered(shared)
        #expect(cues == [.moveFocus(.indicator), .restoreFocus(.previous)])
    }

    @Test func `a wait runs as long as its work`() async throws {
        let model = model()
        let value = await model.run(Wait(.saving)) { run in
            #expect(model.appearance?.phase == .instant)
            clock.advance(by: .seconds(1))
            run.handle(.fraction(0.5))
            #expect(model.appearance?.fraction == 0.5)
            return 7
        }
        #expect(value == 7)
        #expect(model.appearance?.phase == .ended(.succeeded))
        let errors: [(any Error, ProgressEnd)] = [
            (RequestError("closed"), .failed(Recovery(reason: "closed"))),
            (CancellationError(), .cancelled), (NotReady.loading, .failed(Recovery())),
        ]
        for (error, end) in errors {
            await #expect(throws: (any Error).self) {
                try await model.run(Wait(.saving, isDurable: true)) { _ in throw error }
            }
            #expect(model.appearance?.phase == .ended(end))
        }
    }

    @Test func `durable work goes on in the background if its task is canceled`() async {
        for (isDurable, end) in [(false, ProgressEnd.cancelled), (true, .continuedInBackground)] {
            let model = model()
            let task = Task {
                try await model.run(Wait(.saving, isDurable: isDurable)) { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    try Task.checkCancellation()
                }
            }
            _ = await task.result
            #expect(model.appearance?.phase == .ended(end))
        }
    }

    @Test func `work that ends late does not end the wait of other work`() async {
        let model = model()
        await model.run(Wait(.saving)) { _ in _ = model.start(Wait(.loading)) }
        #expect(model.appearance?.wait.kind == .loading)
        #expect(model.appearance?.phase == .instant)
    }

    @Test func `U17: the setting for motion is kept for the next wait`() {
        let model = model()
        model.handle(.reduceMotion(true))
        #expect(model.appearance == nil)
        for _ in 0..<2 {
            model.start(Wait(.loading))
            clock.advance(by: .milliseconds(100))
            model.handle(.signOfLife)
            #expect(model.appearance?.indicator == .text)
            model.finish()
        }
    }
}
