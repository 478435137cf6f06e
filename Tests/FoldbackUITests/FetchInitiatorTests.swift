import FoldbackUI
import Testing

/// A timer that refreshed a value, and a screen that loaded when it appeared, announced their work
/// and its failures to people who had asked for nothing.
@MainActor @Suite struct FetchInitiatorTests {
    private typealias Model = FetchModel<Int, RequestError>

    private let clock = ManualClock()
    private let server = FetchServer()

    private func model() -> Model {
        FetchModel(
            .loading, by: .user(origin: "load"), sources: clock.sources, server.fetch)
    }

    private func idle(_ model: Model) async { await until { model.state.activity == .idle } }

    /// Ends the cues, and returns those that wait.
    private func heard(_ model: Model) async -> [Cue] {
        model.progress.cues.finish()
        var heard: [Cue] = []
        for await cue in model.progress.cues { heard.append(cue) }
        return heard
    }

    private let started = Cue.announce(.activity(.loading), .polite)
    private let finished = Cue.announce(.ended(.loading, .succeeded), .polite)
    private let failed = Cue.announce(
        .ended(.loading, .failed(Recovery(reason: "closed"))), .assertive)

    /// Lets a second pass, after which the start of a person's wait is announced.
    private func second(_ model: Model) {
        clock.advance(by: .seconds(1))
        // Whether or not the timer's task has run.
        model.progress.handle(.reduceMotion(false))
    }

    @Test func `U15: requests of one model have their own initiators`() async {
        let model = model()
        model.ask(by: .app)
        await server.answer(0, .failure("closed"))
        await idle(model)
        model.refresh(by: .app)
        second(model)
        await server.answer(1, .success(1))
        await idle(model)
        model.refresh()
        #expect(model.progress.appearance?.wait.initiator == .user(origin: "load"))
        second(model)
        await server.answer(2, .success(1))
        await idle(model)
        model.refresh(by: .user(origin: "again"))
        #expect(model.progress.appearance?.wait.initiator == .user(origin: "again"))
        await server.answer(3, .failure("closed"))
        await idle(model)
        #expect(await heard(model) == [started, finished, failed])
    }

    @Test func `U15: a value that is refreshed because of its age is silent`() async {
        let model = model()
        model.refreshIfStale(after: .seconds(60))
        second(model)
        await server.answer(0, .failure("closed"))
        await idle(model)
        model.refreshIfStale(after: .seconds(60), by: .user())
        await server.answer(1, .failure("closed"))
        await idle(model)
        #expect(await heard(model) == [failed])
    }

    @Test func `U15: a person who joins a request of the app hears it from then on`() async {
        let model = model()
        model.ask(by: .app)
        clock.advance(by: .seconds(5))
        model.progress.handle(.reduceMotion(false))
        model.ask(by: .app)
        #expect(model.progress.appearance?.wait.initiator == .app)
        model.ask()
        #expect(model.progress.appearance?.phase == .instant)
        // The indicator of the app's wait stays (U12).
        #expect(model.progress.appearance?.indicator == .spinner)
        second(model)
        model.ask(by: .user(origin: "again"))
        await server.answer(0, .success(1))
        await idle(model)
        #expect(server.count == 1)
        #expect(await heard(model) == [started, finished])
    }

    @Test func `U15: the end of a person's short wait is silent after a long wait of the app`()
        async
    {
        let model = model()
        model.ask(by: .app)
        second(model)
        model.ask()
        await server.answer(0, .success(1))
        await idle(model)
        #expect(await heard(model) == [])
    }

    @Test func `U15: a person goes on waiting if the app refreshes the request`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        model.refreshIfStale(after: .zero)
        model.refresh(by: .app)
        await server.waitForCalls(2)
        model.invalidate()
        second(model)
        await server.answer(2, .success(1))
        await idle(model)
        #expect(await heard(model) == [started, finished])
        for call in 0...1 { await server.answer(call, .success(1)) }
    }

    @Test func `a request that a person begins again has the initiator of the wait`() async {
        let model = model()
        let again = Initiator.user(origin: "again")
        model.ask(by: again)
        await server.answer(0, .failure("closed"))
        await idle(model)
        model.perform(.restart)
        #expect(model.progress.appearance?.wait.initiator == again)
        await server.answer(1, .success(1))
        await idle(model)
        model.refresh(by: .app)
        await server.waitForCalls(3)
        model.perform(.restart)
        #expect(model.progress.appearance?.wait.initiator == .user(origin: "load"))
        for call in 2...3 { await server.answer(call, .success(1)) }
        await idle(model)
    }

    @Test func `a wait that a person has left is the app's, until somebody asks again`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        model.perform(.continueInBackground)
        model.ask(by: .app)
        #expect(model.progress.appearance?.phase == .ended(.continuedInBackground))
        model.ask()
        #expect(model.progress.appearance?.phase == .instant)
        await server.answer(0, .failure("closed"))
        await idle(model)
        #expect(await heard(model) == [failed])
    }

    @Test func `U15: a hold keeps the initiator of the request`() async {
        let model = model()
        model.pause(.offline)
        model.ask(by: .app)
        model.resume()
        await server.waitForCalls(1)
        model.pause(.offline)
        model.refresh(by: .app)
        model.resume()
        await server.answer(1, .failure("closed"))
        await idle(model)
        #expect(await heard(model) == [])
        await server.answer(0, .success(1))
    }
}
