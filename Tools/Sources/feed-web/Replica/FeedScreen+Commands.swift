import Foldback
import FoldbackExamples
import FoldbackUI

extension FeedScreen {
    /// Carries out what a page asks for. On return, it is durable, and a message shows it.
    ///
    /// - Parameter control: the id of the control that began it.
    /// - Returns: the number of the recorded intent; nil if there is none.
    func perform(
        _ command: ReplicaCommand, from control: String?
    ) async throws -> IntentNumber? {
        let initiator = Initiator.user(origin: control)
        defer { show() }
        switch command {
        case .like(let post): return try await perform(.liked(post: post), initiator)
        case .unlike(let post): return try await perform(.unliked(post: post), initiator)
        case .comment(let post, let text):
            return try await perform(.commented(post: post, text: text), initiator)
        case .post(let text): return try await perform(.posted(text), initiator)
        case .follow(let name): return try await perform(.followed(name), initiator)
        case .unfollow(let name): return try await perform(.unfollowed(name), initiator)
        case .retry(let number): return try await model.retry(number).number
        case .dismiss(let number): try await model.dismiss(number)
        case .withdraw(let number): try await model.withdraw(number)
        case .load, .sync: load()
        case .reduceMotion(let isReduced): waits.reduceMotion(isReduced)
        case .boost, .open, .upload, .extend, .wait, .signIn, .signOut, .chart:
            throw CommandError(status: .conflict, "not yet")
        }
        return nil
    }

    private func perform(
        _ action: FeedAction, _ initiator: Initiator, confirmOnly: Bool = false
    ) async throws(FoldbackError) -> IntentNumber {
        try await model.perform(
            FeedEvent(by: user, did: action), from: initiator, confirmOnly: confirmOnly
        ).number
    }

    /// Loads the feed, for the first time or again.
    func load() {
        guard !isLoading else { return }
        isLoading = true
        loadFailure = nil
        let progress = waits.start("feed", Wait(.loading, style: isLoaded ? .spinner : .none))
        Task {
            let outcome: String?
            do {
                switch try await replica.downlink.fetch() {
                case .caughtUp: outcome = nil
                case .failed(let failure): outcome = failure.description
                case .timedOut, .stopped: outcome = "the feed was not loaded"
                }
            } catch {
                outcome = "\(error)"
            }
            await changeList { $0.isLoading = false }
            isLoading = false
            loadFailure = outcome
            if let outcome {
                progress.handle(.failed(Recovery(reason: outcome)))
            } else {
                isLoaded = true
                progress.handle(.succeeded)
                replica.follow()
            }
            show()
        }
    }
}
