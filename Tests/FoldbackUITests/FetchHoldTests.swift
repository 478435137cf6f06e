import FoldbackUI
import Testing

/// A device that lost its connection for six seconds had a wait that stalled although the server had
/// said that it was busy for minutes, and a list that was pulled down kept its spinner.
@MainActor @Suite struct FetchHoldTests {
    private typealias Model = FetchModel<Int, RequestError>

    private let clock = ManualClock()
    private let server = FetchServer()

    private func model() -> Model {
        FetchModel(Wait(.loading), sources: clock.sources, server.fetch)
    }

    /// Returns a model whose request runs while later requests are held back.
    private func heldModel() async -> Model {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        model.pause(.offline)
        return model
    }

    private func idle(_ model: Model) async { await until { model.state.activity == .idle } }

    private func turns() async { for _ in 0..<100 { await Task.yield() } }

    /// Returns the phase after some time, whether or not the timer's task has run.
    private func phase(of model: Model, after time: Duration) -> ProgressPhase? {
        clock.advance(by: time)
        model.progress.handle(.reduceMotion(false))
        return model.progress.appearance?.phase
    }

    // MARK: Causes

    @Test func `U14: after a hold, the wait has the cause that the request has reported`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        let busy = WaitCause.serverBusy(until: .seconds(300))
        server.report(0) { $0.cause(busy) }
        await until { model.state.activity == .paused(busy) }
        model.pause(.offline)
        #expect(model.state.activity == .paused(.offline))
        clock.advance(by: .seconds(6))
        model.resume()
        #expect(model.state.activity == .paused(busy))
        #expect(phase(of: model, after: .seconds(60)) == .long)
        #expect(phase(of: model, after: .seconds(263)) == .long)
        #expect(phase(of: model, after: .seconds(1)) == .stalled(Recovery(cause: busy)))
        await server.answer(0, .success(1))
        await idle(model)
    }

    @Test func `a report during a hold counts after the hold`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        server.report(0) { $0.cause(.signedOut) }
        await until { model.state.activity == .paused(.signedOut) }
        model.pause(.offline)
        server.report(0) { $0.cause(.unknown) }
        await turns()
        #expect(model.state.activity == .paused(.offline))
        clock.advance(by: .seconds(5))
        model.resume()
        #expect(model.state.activity == .fetching(since: .seconds(5), attempt: 1))
        await server.answer(0, .success(1))
        await idle(model)
    }

    @Test func `the latest hold says why, and a hold of any cause pauses`() async {
        let model = await heldModel()
        model.pause(.slow)
        #expect(model.hold == .slow)
        #expect(model.state.activity == .paused(.slow))
        model.resume()
        #expect(model.hold == nil)
        #expect(model.state.activity == .fetching(since: .zero, attempt: 1))
        await server.answer(0, .success(1))
        await idle(model)
    }

    @Test func `a new request does not have the cause of the request before it`() async {
        let model = model()
        model.ask()
        await server.waitForCalls(1)
        server.report(0) { $0.cause(.offline) }
        await until { model.state.activity == .paused(.offline) }
        clock.advance(by: .seconds(1))
        model.refresh()
        await server.waitForCalls(2)
        #expect(model.state.activity == .fetching(since: .seconds(1), attempt: 2))
        #expect(phase(of: model, after: .seconds(30)) == .stalled(Recovery()))
        model.cancel()
        for call in 0...1 { await server.answer(call, .success(1)) }
    }

    // MARK: Refreshing during a hold

    @Test func `nobody waits for a request that is held back`() async {
        let model = model()
        model.pause(.offline)
        model.refresh()
        await model.waitUntilIdle()
        #expect(model.state.activity == .paused(.offline))
        model.resume()
        let task = Task {
            await model.waitUntilIdle()
            return model.data
        }
        await server.answer(0, .success(1))
        #expect(await task.value == .success(1))
    }

    @Test func `a request that runs goes on if it is refreshed during a hold`() async {
        let model = await heldModel()
        let stalled = ProgressPhase.stalled(Recovery(cause: .offline))
        #expect(phase(of: model, after: .seconds(40)) == stalled)
        model.refresh()
        #expect(model.progress.appearance?.phase == .instant)
        await turns()
        #expect(!server.isCanceled(0))
        let refreshing = Task { await model.waitUntilIdle() }
        await server.answer(0, .success(1))
        await refreshing.value
        #expect(model.data == .success(1))
        // The answer is older than the call, so the new request waits for the end of the hold.
        #expect(model.state.activity == .paused(.offline))
        #expect(server.count == 1)
        model.resume()
        await server.answer(1, .success(2))
        await idle(model)
        #expect(model.data == .success(2))
    }

    @Test func `a request that was refreshed during a hold begins again after it`() async {
        let model = await heldModel()
        model.refresh()
        model.resume()
        #expect(model.state.activity == .fetching(since: .zero, attempt: 2))
        await server.waitForCalls(2)
        #expect(server.isCanceled(0))
        await server.answer(0, .success(1))
        await server.answer(1, .success(2))
        await idle(model)
        #expect(model.data == .success(2))
        #expect(server.count == 2)
    }

    @Test func `a value that was invalidated during a hold is fetched after it`() async {
        let model = await heldModel()
        model.invalidate()
        await server.answer(0, .failure("offline"))
        await until { model.state.lastFailure != nil }
        #expect(model.state.activity == .paused(.offline))
        model.resume()
        await server.answer(1, .success(2))
        await idle(model)
        #expect(model.data == .success(2))
        #expect(!model.state.isStale(at: clock.now, after: .seconds(60)))
    }

    @Test func `cancel also forgets a request that was asked for during a hold`() async {
        let model = await heldModel()
        model.refresh()
        model.cancel()
        model.resume()
        await server.answer(0, .success(1))
        await turns()
        #expect(model.data == .notAsked)
        #expect(model.state.activity == .idle)
        #expect(server.count == 1)
    }
}
