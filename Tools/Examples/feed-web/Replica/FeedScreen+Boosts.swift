import Foldback
import FoldbackExamples
import FoldbackUI

/// A boost is not shown before the authority confirms it, because nobody knows its reach. So it has
/// a wait, and the post cannot be used meanwhile. The wait ends with the process, and the boost does
/// not: its once key joins a second boost to it (F14).
extension FeedScreen {
    /// The wait of a boost.
    struct Boost {
        let post: String
        let run: ProgressModel.Run
        let progress: ProgressModel
        /// Whether the authority has rejected the boost. The wait shows the error until the mark is
        /// dismissed or the boost is retried.
        var isRejected = false
    }

    func boost(_ post: String, _ initiator: Initiator) async throws -> IntentNumber {
        guard !waits.appearances.blocking.intersects(.items(post)) else {
            throw Refusal(.conflict, "\(post) is being boosted")
        }
        return try await followBoost(of: post, initiator) { [model, user] in
            try await model.perform(
                FeedEvent(by: user, did: .boosted(post: post, reach: nil)), from: initiator,
                confirmOnly: true, once: "boost \(post)")
        }
    }

    /// Records a rejected intent again. A boost has a wait again. The photo of a draft is sent again.
    func retry(_ number: IntentNumber, _ initiator: Initiator) async throws -> IntentNumber {
        if unsentPhotos.removeValue(forKey: number) != nil { return number }
        guard let boost = boosts[number] else { return try await model.retry(number).number }
        return try await followBoost(of: boost.post, initiator) { [model] in
            let receipt = try await model.retry(number)
            self.endBoost(number)
            return receipt
        }
    }

    /// Removes the wait of a boost that was rejected.
    func endBoost(_ number: IntentNumber) { boosts.removeValue(forKey: number)?.progress.finish() }

    /// Shows the wait of a boost from before it is recorded until its answer.
    private func followBoost(
        of post: String, _ initiator: Initiator,
        _ record: @MainActor () async throws -> Receipt
    ) async throws -> IntentNumber {
        let wait = Wait(
            "boosting the post", presentation: .obstructive(.items(post)), initiator: initiator,
            isDurable: true)
        let (progress, run) = waits.start("boost:\(post)", wait)
        let receipt: Receipt
        do { receipt = try await record() } catch {
            // The page that asked for it gets the reason.
            progress.finish()
            throw error
        }
        boosts[receipt.number] = Boost(post: post, run: run, progress: progress)
        Task { [weak self, model] in
            for await update in model.updates(of: receipt) {
                self?.noteBoost(receipt.number, update.data)
            }
        }
        noteBoosts()
        return receipt.number
    }

    /// Ends the wait with the answer.
    private func noteBoost(_ number: IntentNumber, _ data: RemoteData<Answer, IntentFailure>) {
        guard let boost = boosts[number] else { return }
        switch data {
        case .notAsked, .loading: return
        case .success: boost.run.handle(.succeeded)
        case .failure(.rejected(let rejection)):
            // The wait announces this, so the news do not.
            told.insert(number)
            boosts[number]?.isRejected = true
            boost.run.handle(.failed(Recovery(reason: rejection.message)))
            return
        case .failure: boost.progress.finish()
        }
        boosts[number] = nil
    }

    /// Tells the waits of boosts why they take long, and that the outbox goes on trying.
    func noteBoosts() {
        for (number, boost) in boosts where !boost.isRejected {
            boost.run.handle(.cause(pause?.cause ?? .unknown))
            if let attempt = replica.store.attempt(of: number), attempt.count > 1 {
                boost.run.handle(.attempt(attempt.count))
            }
        }
    }

    func act(_ action: WaitAction, onBoostOf post: String, _ initiator: Initiator) async throws {
        guard let (number, boost) = boosts.first(where: { $0.value.post == post }) else {
            throw Self.noWait("boost:\(post)")
        }
        switch action {
        case .cancel:
            // If the boost has left the device, the authority decides on it.
            do { try await model.withdraw(number) } catch { continueInBackground(number, boost) }
        case .continueInBackground: continueInBackground(number, boost)
        case .restart where boost.isRejected: _ = try await retry(number, initiator)
        case .restart:
            boost.run.handle(.restarted)
            if !calls.stage.settings.offline.contains(user) { replica.sync.tell(.wentOnline) }
        }
    }

    private func continueInBackground(_ number: IntentNumber, _ boost: Boost) {
        boost.run.handle(.continuedInBackground)
        boosts[number] = nil
    }
}
