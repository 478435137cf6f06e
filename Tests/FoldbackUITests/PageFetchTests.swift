import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from feeds whose spinner at the end flashed for each short fetch, and stayed for ever after
/// a fetch that was lost.
@MainActor @Suite struct PageFetchTests {
    private let clock = ManualClock()
    private let server = FetchServer()
    private let store = Store.rowBoard(.downlink)
    private let model: RowsModel<RowBoard>

    init() { model = RowsModel(store, sources: clock.sourcesWithoutFrames) }

    /// A page that shows all cells: k01 to k03.
    private func pages(
        _ initiator: Initiator = .user()
    ) async throws -> PageModel<RowEntry<String, Int>, RequestError> {
        try await confirm(["k01", "k02", "k03"])
        let wait = Wait("loading messages", initiator: initiator)
        let pages = model.pages(
            of: RowBoard.cells, pageSize: 5, showing: wait, fetch: server.pageFetch())
        await isRead(pages)
        return pages
    }

    private func confirm(_ keys: [String]) async throws {
        try await store.confirmCells(keys)
    }

    private func pass(_ duration: Duration, _ progress: ProgressModel) async {
        let before = progress.appearance
        await clock.waitForSleepers(1)
        clock.advance(by: duration)
        await until { progress.appearance != before }
    }

    /// Ends the model's cues, and returns those that wait.
    private func delivered() async -> [Cue] {
        model.cues.finish()
        var delivered: [Cue] = []
        for await cue in model.cues { delivered.append(cue) }
        return delivered
    }

    @Test func `U10: a fetch at an edge has a late indicator, a text and a fraction`() async throws
    {
        let pages = try await pages()
        let progress = pages.progress(of: .end)
        #expect(progress.appearance == nil)
        pages.extend(.end)
        #expect(pages.end == .loading)
        #expect(progress.appearance?.phase == .instant)
        #expect(progress.appearance?.indicator == nil)
        await pass(.milliseconds(100), progress)
        #expect(progress.appearance?.indicator != nil)
        #expect(progress.appearance?.text == nil)
        await pass(.milliseconds(900), progress)
        #expect(progress.appearance?.text == .activity("loading messages"))
        await server.waitForCalls(1)
        server.report(0) { $0.fraction(0.5) }
        await until { progress.appearance?.fraction == 0.5 }
        #expect(pages.progress(of: .start).appearance == nil)

        try await confirm(["k04"])
        await server.answer(0, .success(1))
        await until { !pages.end.isLoading }
        #expect(pages.end == .success(.more))
        #expect(pages.rows.success?.map(\.key) == ["k01", "k02", "k03", "k04"])
        #expect(progress.appearance?.phase == .ended(.succeeded))
    }

    @Test func `U12: a short fetch at an edge has no indicator and no cue`() async throws {
        let pages = try await pages()
        let progress = pages.progress(of: .start)
        pages.extend(.start)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(99))
        await server.answer(0, .success(0))
        await until { !pages.start.isLoading }
        #expect(pages.start == .success(.end))
        clock.advance(by: .seconds(5))
        for _ in 0..<100 { await Task.yield() }
        #expect(progress.appearance?.phase == .ended(.succeeded))
        #expect(progress.appearance?.indicator == nil)
        #expect(await delivered() == [])
    }

    @Test func `U23: reading local rows is not a wait`() async throws {
        try await confirm(["k01", "k02", "k03"])
        let pages = model.pages(of: RowBoard.cells, pageSize: 2)
        await isRead(pages)
        pages.extend(.end)
        #expect(pages.end == .loading)
        #expect(pages.progress(of: .end).appearance == nil)
        await isRead(pages)
        pages.extend(.end)
        #expect(pages.progress(of: .end).appearance == nil)
        #expect(pages.end == .success(.end))
    }

    @Test func `U23: no action begins a wait at a page without a fetch`() async throws {
        try await confirm(["k01"])
        let pages = model.pages(of: RowBoard.cells, pageSize: 2)
        await isRead(pages)
        for edge in ListEdge.allCases {
            for action in WaitAction.allCases { pages.perform(action, at: edge) }
            #expect(pages.progress(of: edge).appearance == nil)
            await pages.progress(of: edge).perform(.restart)
            #expect(pages.progress(of: edge).appearance == nil)
        }
        #expect((pages.start, pages.end) == (.success(.end), .success(.end)))
    }

    @Test func `U14: a fetch that stalls can be begun again, and its late answer changes nothing`()
        async throws
    {
        let pages = try await pages()
        let progress = pages.progress(of: .end)
        pages.extend(.end)
        await server.waitForCalls(1)
        await pass(.seconds(30), progress)
        #expect(progress.appearance?.phase == .stalled(Recovery()))
        server.report(0) { $0.signOfLife() }
        await until { progress.appearance?.phase == .long }
        await pass(.seconds(30), progress)
        #expect(progress.appearance?.actions == [.cancel, .restart])
        pages.extend(.end)
        #expect(server.count == 1)

        pages.perform(.restart, at: .end)
        #expect(pages.end == .loading)
        #expect(progress.appearance?.phase == .instant)
        await server.waitForCalls(2)
        #expect(server.isCanceled(0))
        await server.answer(0, .success(0))
        for _ in 0..<100 { await Task.yield() }
        #expect(pages.end == .loading)
        await server.answer(1, .success(1))
        await until { !pages.end.isLoading }
        #expect(pages.end == .success(.more))
    }

    @Test func `a canceled fetch leaves the edge as it was, and can be begun again`() async throws {
        let pages = try await pages()
        pages.extend(.end)
        await server.waitForCalls(1)
        pages.cancel(.end)
        #expect(pages.end == .notAsked)
        #expect(pages.progress(of: .end).appearance?.phase == .ended(.cancelled))
        #expect(server.isCanceled(0))
        await server.answer(0, .success(0))
        for _ in 0..<100 { await Task.yield() }
        #expect(pages.end == .notAsked)

        pages.extend(.end)
        #expect(pages.end == .loading)
        await server.answer(1, .success(1))
        await until { !pages.end.isLoading }
        pages.extend(.end)
        pages.perform(.cancel, at: .end)
        #expect(pages.end == .success(.more))
    }

    @Test func `a failed fetch says why, and extending the page begins it again`() async throws {
        let pages = try await pages()
        let progress = pages.progress(of: .end)
        pages.extend(.end)
        await server.answer(0, .failure("closed"))
        await until { !pages.end.isLoading }
        #expect(pages.end == .failure("closed"))
        #expect(progress.appearance?.phase == .ended(.failed(Recovery(reason: "closed"))))
        pages.extend(.end)
        #expect(pages.end == .loading)
        await server.answer(1, .success(0))
        await until { !pages.end.isLoading }
        #expect(pages.end == .success(.end))
        pages.extend(.end)
        #expect(pages.end == .success(.end))
        pages.perform(.restart, at: .end)
        await server.answer(2, .success(1))
        await until { pages.end == .success(.more) }
    }

    @Test func `U15: a person hears about their own fetch`() async throws {
        let pages = try await pages(.user(origin: "more"))
        let progress = pages.progress(of: .end)
        pages.extend(.end)
        await server.waitForCalls(1)
        await pass(.seconds(1), progress)
        await server.answer(0, .failure("closed"))
        await until { !pages.end.isLoading }
        #expect(
            await delivered() == [
                .announce(.activity("loading messages"), .polite),
                .announce(
                    .ended("loading messages", .failed(Recovery(reason: "closed"))), .assertive),
            ])
    }

    @Test func `#50: a fetch of the app itself is silent, also if it stalls or fails`() async throws
    {
        let pages = try await pages(.app)
        let progress = pages.progress(of: .end)
        pages.extend(.end)
        await server.waitForCalls(1)
        await pass(.seconds(30), progress)
        #expect(progress.appearance?.phase == .stalled(Recovery()))
        await server.answer(0, .failure("closed"))
        await until { !pages.end.isLoading }
        #expect(await delivered() == [])
    }

    @Test func `U25: reports of a fetch do not notify the edge's observers`() async throws {
        let pages = try await pages()
        pages.extend(.end)
        await server.waitForCalls(1)
        for _ in 0..<100 { await Task.yield() }
        let ofEnd = Notifications { _ = pages.end }
        for cause in [WaitCause.offline, .unknown, .slow] {
            server.report(0) { $0.cause(cause) }
            for _ in 0..<100 { await Task.yield() }
        }
        #expect(ofEnd.count == 0)
        #expect(pages.end == .loading)
        await server.answer(0, .success(1))
        await until { ofEnd.count > 0 }
        #expect(ofEnd.count == 1)
    }

    @Test func `U23: rows that a fetch brings stay if the page becomes too long`() async throws {
        try await confirm(["k01", "k02", "k03"])
        let pages = model.pages(
            of: RowBoard.cells, pageSize: 3, windowMax: 4, fetch: server.pageFetch())
        await isRead(pages)
        pages.extend(.end)
        await server.waitForCalls(1)
        try await confirm(["k04", "k05"])
        await server.answer(0, .success(1))
        await isRead(pages)
        #expect(pages.rows.success?.map(\.key) == ["k02", "k03", "k04", "k05"])
        #expect((pages.start, pages.end) == (.success(.more), .success(.more)))
    }

    @Test func `U29: a page that is released cancels its fetch`() async throws {
        var pages: PageModel<RowEntry<String, Int>, RequestError>? = try await pages()
        weak let freed = pages
        let progress = pages?.progress(of: .end)
        pages?.extend(.end)
        await server.waitForCalls(1)
        pages = nil
        #expect(freed == nil)
        #expect(progress?.appearance?.phase == .ended(.cancelled))
        while !server.isCanceled(0) { await Task.yield() }
        await server.answer(0, .success(1))
    }
}
