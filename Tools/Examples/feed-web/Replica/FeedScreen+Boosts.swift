import Foldback
import FoldbackExamples
import FoldbackUI

/// A boost is not shown before the authority confirms it, because nobody knows its reach. So it has
/// a wait, and the post cannot be used meanwhile. The wait ends with the process, and the boost does
/// not: its once key joins a second boost to it (F14).
extension FeedScreen {
    /// The boost of a post since the process began.
    struct Boost {
        let progress: ProgressModel
        /// The latest intent; nil before the first is recorded.
        var number: IntentNumber?
        /// Those who wait for the next intent. Two windows can ask for it at once.
        var askers: [AsyncThrowingStream<IntentNumber, any Error>.Continuation] = []
    }

    func boost(_ post: String, _ initiator: Initiator) async throws -> IntentNumber? {
        guard !waits.appearances.blocking.intersects(.items(post)) else {
            throw Refusal(.conflict, "\(post) is being boosted")
        }
        let event = FeedEvent(by: user, did: .boosted(post: post, reach: nil))
        let wait = Wait(
            "boosting the post", presentation: .obstructive(.items(post)), initiator: initiator,
            isDurable: true)
        let progress = ProgressModel(policy: waits.policy, sources: world.clock.ui)
        waits.add(progress, "boost:\(post)")
        boosts[post] = Boost(progress: progress)
        // The post is blocked at once.
        progress.start(wait)
        do {
            return try await recorded(for: post) { [self] in
                try await model.perform(
                    confirmOnly: event, showing: wait, in: progress, once: "boost \(post)"
                ) { [self] receipt in
                    boosts[post]?.number = receipt.number
                    for asker in boosts[post]?.askers ?? [] { asker.yield(receipt.number) }
                    boosts[post]?.askers = []
                }
            }
        } catch IntentFailure.store(let error) {
            // The page that asked for it gets the reason.
            progress.finish()
            throw error
        }
    }

    /// Records a rejected intent again. The wait of a boost goes on, also if another window has
    /// restarted it meanwhile. The photo of a draft is sent again.
    func retry(_ number: IntentNumber) async throws -> IntentNumber? {
        if unsentPhotos.removeValue(forKey: number) != nil { return number }
        if let next = try boostThatRetries(number) { return next }
        guard let (post, _) = boost(of: number), hasWait(number) else {
            return try await model.retry(number).number
        }
        return try await restartBoost(of: post)
    }

    /// Records a boost again if it was rejected. Otherwise, the device tries again to send it.
    func restartBoost(of post: String) async throws -> IntentNumber? {
        guard let boost = boosts[post] else { return nil }
        if let number = boost.number, replica.store.rejections.contains(number) {
            return try await recorded(for: post) { await boost.progress.perform(.restart) }
        }
        boost.progress.press(.restart)
        if !world.stage.settings.offline.contains(user) { replica.sync.tell(.wentOnline) }
        return nil
    }

    /// Begins what may record a boost, and returns when it has, or has ended.
    ///
    /// - Returns: the number of the intent; nil if none is recorded.
    private func recorded(
        for post: String, by work: @escaping @MainActor () async throws -> Void
    ) async throws -> IntentNumber? {
        let (numbers, next) = AsyncThrowingStream<IntentNumber, any Error>.makeStream()
        boosts[post]?.askers.append(next)
        Task {
            do {
                try await work()
                next.finish()
            } catch { next.finish(throwing: error) }
        }
        for try await number in numbers { return number }
        return nil
    }

    /// The boost whose latest intent this is, with its post.
    func boost(of number: IntentNumber) -> (key: String, value: Boost)? {
        boosts.first { $0.value.number == number }
    }

    /// The latest intent of a boost, if it retries this one.
    private func boostThatRetries(_ number: IntentNumber) throws -> IntentNumber? {
        try boosts.values.compactMap(\.number).first { latest in
            try replica.store.intent(latest).retries == number
        }
    }

    /// Whether a wait tells how an intent ends.
    func hasWait(_ number: IntentNumber) -> Bool {
        let progress = boost(of: number)?.value.progress
        return progress.map { $0.isRunning || $0.hasFailed } ?? false
    }

    /// Whether the log has all boosts whose waits go on.
    var areBoostsSettled: Bool {
        boosts.values.allSatisfy { boost in
            !boost.progress.isRunning
                || replica.store.overlay.contains { $0.number == boost.number }
        }
    }
}
