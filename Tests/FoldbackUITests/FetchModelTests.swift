import FoldbackUI
import Observation
import Synchronization
import Testing

/// Views that kept an "is loading" flag beside their data showed old answers, or a spinner for ever.
/// These tests look at each request from the call to its answer, and after it.
@MainActor @Suite struct FetchModelTests {
    private let clock = ManualClock()
    private let server = FetchServer()

    private func model(_ wait: Wait = Wait(.loading)) -> FetchModel<Int, RequestError> {
        FetchModel(wait, sources: clock.sources, server.fetch)
    }

    private func idle(_ model: FetchModel<Int, RequestError>) async {
        await until { model.state.activity == .idle }
    }

    @Test func `#77: the data are loading before the function runs`() async {
        let order = Mutex<[String]>([])
        let model = FetchModel<Int, RequestError>(.loading, sources: clock.sources) { _ in
            order.withLock { $0.append("run") }
            return 1
        }
        #expect(model.data == .notAsked)
        model.ask()
        order.withLock { $0.append("\(model.data)") }
        #expect(model.progress.appearance?.phase == .instant)
        await until { model.state.activity == .idle }
        #expect(order.withLock(\.self) == ["loading", "run"])
        #expect(model.data == .success(1))
        #expect(model.progress.appearance?.phase == .ended(.succeeded))
    }

    @Test func `#79: observers see not asked, loading and the success`() async {
        let model = model()
        var recorded: [Sample] = []
        for await data in Self.data(of: model) {
            recorded.append(data)
            switch data {
            case .notAsked: model.ask()
            case .loading: await server.answer(0, .success(1))
            case .failure, .success: break
            }
            if data.isSuccess { break }
        }
        #expect(recorded == [.notAsked, .loading, .success(1)])
    }

    private static func data(
        of model: FetchModel<Int, RequestError>
    ) -> Observations<Sample, Never> {
        Observations { model.data }
    }

    @Test func `#82: a delay of two seconds costs a test no time`() async {
        let model = model().delayed(by: .seconds(2))
        model.ask()
        while !clock.wakeUps.contains(.seconds(2)) { await Task.yield() }
        #expect(server.count == 0)
        clock.advance(by: .seconds(2))
        await server.answer(0, .success(1))
        await idle(model)
        #expect(model.data == .success(1))
    }

    @Test func `#81: a delayed model has the same data, and a wait of its own`() async {
        let model = FetchModel(
            Wait(.loading), state: FetchState(value: 7), sources: clock.sources, server.fetch)
        model.refresh()
        let delayed = model.delayed(by: .seconds(2))
        #expect(delayed.data == model.data)
        #expect(delayed.state.activity == .idle)
        #expect(delayed.progress !== model.progress)
        delayed.refresh()
        delayed.cancel()
        #expect(model.progress.appearance?.phase == .instant)
        await server.answer(0, .success(1))
        await idle(model)
        #expect(delayed.data == .success(7))
    }

    @Test func `#81: a delayed model announces where the model does`() {
        let cues = Cues(sources: clock.sources)
        let model = FetchModel(
            Wait(.loading), cues: cues, sources: clock.sources, server.fetch)
        #expect(model.delayed(by: .seconds(2)).progress.cues === cues)
    }

    @Test func `ask joins the request in progress, and refresh supersedes it`() async {
        let model = model()
        model.ask()
        model.ask()
        await server.waitForCalls(1)
        model.refresh()
        await server.waitForCalls(2)
        #expect(server.isCanceled(0))
        await server.answer(0, .success(1))
        #expect(model.state.activity != .idle)
        await server.answer(1, .success(2))
        await idle(model)
        #expect(server.count == 2)
        #expect(model.data == .success(2))
    }

    @Test func `U8: a late answer and late reports of a superseded request change nothing`()
        async
    {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        model.refresh()
        await server.waitForCalls(2)
        clock.advance(by: .seconds(1))
        server.report(0) {
            $0.fraction(0.9)
            $0.cause(.offline)
        }
        await server.answer(0, .failure("late"))
        for _ in 0..<100 { await Task.yield() }
        #expect(model.state.activity == .fetching(since: .zero, attempt: 2))
        #expect(model.data == .loading)
        #expect(model.progress.appearance?.fraction == nil)
        await server.answer(1, .success(2))
        await idle(model)
        server.report(1) { $0.fraction(0.5) }
        for _ in 0..<100 { await Task.yield() }
        #expect(model.data == .success(2))
        #expect(model.progress.appearance?.phase == .ended(.succeeded))
    }

    @Test func `a report feeds the wait, and a cause pauses the request until it is gone`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        clock.advance(by: .seconds(1))
        server.report(0) { $0.fraction(0.5) }
        await until { model.progress.appearance?.fraction == 0.5 }
        clock.advance(by: .seconds(28))
        server.report(0) { $0.signOfLife() }
        server.report(0) { $0.cause(.slow) }
        await until { model.progress.appearance?.phase == .long }
        clock.advance(by: .seconds(29))
        #expect(model.state.activity == .fetching(since: .zero, attempt: 1))
        server.report(0) { $0.cause(.offline) }
        await until { model.state.activity == .paused(.offline) }
        #expect(model.data == .loading)
        server.report(0) { $0.cause(.unknown) }
        await until { model.state.activity == .fetching(since: .seconds(58), attempt: 1) }
        server.report(0) { $0.fraction(0.9) }
        await server.answer(0, .success(1))
        await idle(model)
        #expect(model.data == .success(1))
    }

    @Test func `U13: of fractions that are reported together, the highest counts`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        clock.advance(by: .seconds(1))
        server.report(0) { report in
            for fraction in [Double.nan, -1, 0.5, .nan, 0.25] { report.fraction(fraction) }
        }
        await until { model.progress.appearance?.fraction != nil }
        #expect(model.progress.appearance?.fraction == 0.5)
        model.cancel()
        await server.answer(0, .success(1))
    }

    @Test func `a failure keeps the older value, and its recovery is in the wait`() async {
        let model = model()
        model.ask()
        await server.answer(0, .success(1))
        await idle(model)
        model.refresh()
        #expect(model.data == .success(1))
        #expect(model.state.isRefreshing)
        await server.answer(1, .failure("closed"))
        await idle(model)
        #expect(model.data == .success(1))
        #expect(model.state.lastFailure == "closed")
        #expect(
            model.progress.appearance?.phase == .ended(.failed(Recovery(reason: "closed"))))
    }

    @Test func `cancel ends the request at once, and keeps what is known`() async {
        let model = model()
        model.ask()
        model.cancel()
        #expect(model.data == .notAsked)
        #expect(model.progress.appearance?.phase == .ended(.cancelled))
        model.ask()
        await server.waitForCalls(1)
        model.cancel()
        while !server.isCanceled(0) { await Task.yield() }
        await server.answer(0, .success(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(model.data == .notAsked)
        // The first request was canceled before its function was called.
        #expect(server.count == 1)
    }

    @Test func `a request that cancels itself is not a failure`() async {
        let model = FetchModel<Int, any Error>(.loading, sources: clock.sources) { _ in
            throw CancellationError()
        }
        model.ask()
        await until { model.state.activity == .idle }
        guard case .notAsked = model.data else {
            Issue.record("\(model.data)")
            return
        }
        #expect(model.progress.appearance?.phase == .ended(.cancelled))
    }

    @Test func `a model that is released cancels its request, and ends its wait`() async {
        var model: FetchModel<Int, RequestError>? = self.model()
        let progress = model?.progress
        weak let freed = model
        model?.ask()
        await server.waitForCalls(1)
        model = nil
        #expect(freed == nil)
        #expect(progress?.appearance?.phase == .ended(.cancelled))
        while !server.isCanceled(0) { await Task.yield() }
        await server.answer(0, .success(1))
    }

    @Test func `a request waits while the model is on hold`() async {
        let model = model()
        model.pause(.offline)
        model.ask()
        #expect(model.data == .loading)
        #expect(model.state.activity == .paused(.offline))
        model.refresh()
        for _ in 0..<100 { await Task.yield() }
        #expect(server.count == 0)
        clock.advance(by: .seconds(5))
        model.resume()
        #expect(model.state.activity == .fetching(since: .seconds(5), attempt: 2))
        model.resume()
        await server.waitForCalls(1)
        model.pause(.offline)
        #expect(model.state.activity == .paused(.offline))
        await server.answer(0, .success(1))
        await idle(model)
        #expect(model.data == .success(1))
        model.resume()
        #expect(server.count == 1)
    }

    @Test func `a stale value is fetched again, and stays until the answer`() async {
        let model = model()
        model.refreshIfStale(after: .seconds(60))
        await server.answer(0, .success(1))
        await idle(model)
        clock.advance(by: .seconds(59))
        model.refreshIfStale(after: .seconds(60))
        #expect(model.state.activity == .idle)
        clock.advance(by: .seconds(1))
        model.refreshIfStale(after: .seconds(60))
        #expect(model.data == .success(1))
        await server.answer(1, .success(2))
        await idle(model)
        model.invalidate()
        #expect(model.state.activity == .idle)
        model.refreshIfStale(after: .seconds(60))
        await server.waitForCalls(3)
        // The answer of the request in progress may be as old as the value.
        model.invalidate()
        await server.answer(3, .success(4))
        await idle(model)
        #expect(server.isCanceled(2))
        #expect(model.data == .success(4))
        #expect(!model.state.isStale(at: clock.now, after: .seconds(60)))
    }

    @Test func `a person's actions cancel the request, begin it again, or end the wait`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        model.perform(.restart)
        await server.waitForCalls(2)
        model.perform(.continueInBackground)
        #expect(model.progress.appearance?.phase == .ended(.continuedInBackground))
        #expect(model.data == .loading)
        model.perform(.cancel)
        #expect(model.data == .notAsked)
        for call in 0...1 { await server.answer(call, .success(1)) }
    }

    @Test func `a task can wait for the answer, or be canceled`() async {
        let model = model()
        await model.waitUntilIdle()
        model.ask()
        let canceled = Task { await model.waitUntilIdle() }
        await Task.yield()
        canceled.cancel()
        await canceled.value
        #expect(model.data == .loading)
        let task = Task {
            await model.waitUntilIdle()
            return model.data
        }
        await server.waitForCalls(1)
        model.refresh()
        await server.answer(0, .success(1))
        await server.answer(1, .success(2))
        #expect(await task.value == .success(2))
    }

    @Test func `U9: what is not in the log is loading, then a fact`() async {
        let model = model()
        #expect(model.data(known: nil, absent: []) == RemoteData<[Int], RequestError>.notAsked)
        model.ask()
        #expect(model.data(known: nil, absent: []) == RemoteData<[Int], RequestError>.loading)
        #expect(model.data(known: [7], absent: []) == .success([7]))
        await server.answer(0, .success(1))
        await idle(model)
        #expect(model.data(known: nil, absent: []) == .success([Int]()))
    }

    @Test func `a value from elsewhere is shown, and is stale until a request has succeeded`()
        async
    {
        let model = FetchModel(
            Wait(.loading), state: FetchState(value: 7), sources: clock.sources, server.fetch)
        #expect(model.data == .success(7))
        #expect(model.data(known: nil, absent: 0) == .success(0))
        model.refreshIfStale(after: .seconds(60))
        #expect(model.state.isRefreshing)
        await server.answer(0, .failure("closed"))
        await idle(model)
        #expect(model.data == .success(7))
        #expect(model.state.lastFailure == "closed")
        model.refreshIfStale(after: .seconds(60))
        await server.answer(1, .success(8))
        await idle(model)
        #expect(model.data == .success(8))
        #expect(!model.state.isStale(at: clock.now, after: .seconds(60)))
    }

    @Test func `a restored value is shown before the first request, and reset forgets it`() async {
        var known = FetchState<Int, RequestError>()
        _ = known.succeeded(7, known.begin(at: .zero), at: .zero)
        let model = FetchModel(
            Wait(.loading), state: known, sources: clock.sources, server.fetch)
        #expect(model.data == .success(7))
        model.refresh()
        await server.waitForCalls(1)
        model.reset()
        #expect(model.data == .notAsked)
        await server.answer(0, .success(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(model.data == .notAsked)
    }
}
