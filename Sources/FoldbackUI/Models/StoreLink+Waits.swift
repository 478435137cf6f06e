import Foldback

/// Waits for the answers of confirm-only intents (F13), whose effects no view shows before.
extension StoreLink {
    /// Records a confirm-only event, and shows the wait until the intent is settled. On return, the
    /// model is at the answer or later, and then the wait ends (U27).
    func perform(
        _ event: Event, showing wait: Wait, in progress: ProgressModel, once: String?
    ) async throws(IntentFailure) -> Answer {
        try await progress.run(wait) { (run) async throws(IntentFailure) in
            let receipt = try await self.record(event, showing: wait, in: run, once: once)
            defer { self.waits[receipt.number] = nil }
            return try await self.answer(to: receipt, in: run)
        }
    }

    private func record(
        _ event: Event, showing wait: Wait, in run: ProgressModel.Run, once: String?
    ) async throws(IntentFailure) -> Receipt {
        do throws(FoldbackError) {
            let receipt = try await openStore.record(
                event, force: false, confirmOnly: true, once: once, info: wait.initiator.info)
            waits[receipt.number] = run
            return receipt
        } catch {
            throw .store(error)
        }
    }

    private func answer(
        to receipt: Receipt, in run: ProgressModel.Run
    ) async throws(IntentFailure) -> Answer {
        await adoptNow()
        var last: KnownIntent?
        while true {
            do throws(FoldbackError) {
                last = try await receipt.core.intent(receipt.number, after: last?.state)
            } catch {
                throw .store(error)
            }
            await adoptNow()
            switch last?.data {
            case nil, .notAsked, .loading: run.handle(.signOfLife)
            case .success(let answer): return answer
            case .failure(let failure): throw failure
            }
        }
    }
}

extension Update {
    /// The latest attempt to send an intent; nil if the receiver knows it.
    func newAttempt(of number: IntentNumber) -> Attempt? {
        let attempt = published.attempts[number]
        return attempt == base.attempts[number] ? nil : attempt
    }
}

extension IntentFailure: ExplainedError {
    /// The server's reason; nil if the intent was taken back, or the task was canceled.
    public var recovery: Recovery? {
        switch self {
        case .rejected(let rejection): Recovery(reason: rejection.message)
        case .withdrawn, .store(.cancelled): nil
        case .store: Recovery()
        }
    }
}
