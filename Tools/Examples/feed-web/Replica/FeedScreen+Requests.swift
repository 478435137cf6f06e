import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI

/// Requests of the screen that are not intents.
extension FeedScreen {
    /// Loads the feed, for the first time or again. Then it is followed.
    func load(by initiator: Initiator) async {
        if let feed, feed.state.activity != .idle { return }
        let state = feed?.state ?? FetchState()
        // The placeholders show the first load.
        let style: IndicatorStyle = state.data.isSuccess ? .spinner : .none
        // The downlink goes on by itself when the device is online again.
        let wait = Wait(.loading, initiator: initiator, style: style, isDurable: true)
        let feed = request("feed", wait, after: state) {
            [replica, model] report throws(AuthorityFailure) in
            let position = try await replica.fetched(for: "feed", report)
            await model.adoptCommits()
            return position
        }
        self.feed = feed
        if feed.data.isLoading { await changeList { $0.isLoading = true } }
        Task {
            await feed.waitUntilIdle()
            await changeList { $0.isLoading = false }
            if feed.data.isSuccess { replica.following.open() }
        }
    }

    /// Shows a post whose id is known. If the device does not have it yet, its row is there at once,
    /// and the content follows.
    func open(_ post: String, _ initiator: Initiator) async throws {
        guard opened[post] == nil else { return }
        if let known = model.view.feed.posts[post] {
            guard known.isDeleted else { return }
            throw Refusal(.conflict, Self.goneReason)
        }
        guard world.hasPost(post) else {
            throw Refusal(.conflict, "the post \"\(post)\" does not exist")
        }
        let wait = Wait("opening the post", initiator: initiator, isDurable: true)
        let request = request("open:\(post)", wait) {
            [replica] report throws(ServerFailure) in
            do throws(AuthorityFailure) {
                _ = try await replica.fetched(for: "open:\(post)", report)
            } catch {
                throw .unreachable(reason: error.reason)
            }
            // The model shows the post with the next frame.
            guard let loaded = replica.store.view.feed.posts[post], !loaded.isDeleted else {
                throw .gone(reason: Self.goneReason)
            }
        }
        opened[post] = request
        await changeList { $0.opened.append(post) }
        Task {
            await request.waitUntilIdle()
            if case .gone? = request.data.failure { await close(post) }
        }
    }

    private nonisolated static let goneReason = "The post does not exist any more."

    /// Removes the row of an opened post that was not loaded.
    func close(_ post: String) async {
        opened[post] = nil
        await changeList { $0.opened.removeAll { $0 == post } }
    }

    /// Loads the chart beside everything else (002:93).
    func loadChart(_ initiator: Initiator) {
        if let chart, chart.state.activity != .idle { return }
        let wait = Wait("loading the chart", initiator: initiator)
        chart = request("chart", wait, after: chart?.state ?? FetchState()) {
            [calls] _ throws(ServerFailure) in
            try await calls.ask("chart", "Load the chart")
            return Seeds.chart
        }
    }

    /// Signs in. Nothing else can be done meanwhile (002:89).
    func signIn(_ initiator: Initiator) {
        if let signIn, signIn.state.activity != .idle { return }
        let wait = Wait("signing in", presentation: .obstructive(.all), initiator: initiator)
        signIn = request("signIn", wait) { [calls, weak self] _ throws(ServerFailure) in
            try await calls.ask("signIn", "Sign in")
            await self?.setSignedIn(true)
        }
    }

    /// Begins a request, and shows its wait.
    func request<Value: Sendable, Failure>(
        _ name: String, _ wait: Wait, after state: FetchState<Value, Failure> = FetchState(),
        _ fetch: @escaping @Sendable (FetchReport) async throws(Failure) -> Value
    ) -> FetchModel<Value, Failure> {
        let request = FetchModel(
            wait, state: state, policy: waits.policy, sources: world.clock.ui, fetch)
        waits.add(request.progress, name)
        request.ask()
        return request
    }
}
