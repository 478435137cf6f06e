import Foldback

/// A confirm-only intent that somebody waits for (F13). It ends the wait with the answer, and
/// carries out the actions of the wait.
///
/// The wait's ``ProgressModel`` keeps it until the wait ends without a failure, and the task that
/// waits for the answer keeps it too.
@MainActor final class AwaitedIntent<Event: Sendable> {
    private enum Stage {
        case unrecorded
        case recorded(Receipt)
        case rejected(IntentNumber)
    }

    let run: ProgressModel.Run
    private let link: StoreLink<Event>
    private let event: Event
    private let wait: Wait
    private let once: String?
    /// Hears of the intent and of each retry.
    private let noteReceipt: @MainActor (Receipt) -> Void
    private var stage = Stage.unrecorded
    /// How many times the answer was waited for.
    private var rounds = 0
    /// Whether the last round has ended the wait.
    private var isOver = false
    /// Whether to take back the intent once it is recorded.
    private var isCancelAsked = false

    /// Starts the wait.
    init(
        _ event: Event, _ link: StoreLink<Event>, _ wait: Wait, in progress: ProgressModel,
        once: String?, recorded: @escaping @MainActor (Receipt) -> Void
    ) {
        (self.event, self.link, self.wait, self.once) = (event, link, wait, once)
        noteReceipt = recorded
        run = progress.start(wait)
        run.onAction { await self.carryOut($0) }
    }

    /// Records the intent, and waits for its answer. After a rejection, it records the intent
    /// again; after an error, it waits again.
    func answer() async throws(IntentFailure) -> Answer {
        rounds += 1
        isOver = false
        let round = rounds
        do throws(IntentFailure) {
            let receipt = try await recorded()
            defer { link.leave(self, receipt.number) }
            let answer = try await answer(to: receipt)
            end(.success(answer), of: round)
            return answer
        } catch {
            end(.failure(error), of: round)
            throw error
        }
    }

    private func recorded() async throws(IntentFailure) -> Receipt {
        if case .recorded(let receipt) = stage {
            link.join(self, receipt.number)
            return receipt
        }
        let receipt: Receipt
        do throws(CommandError) {
            receipt = try await link.record(for: self) { () async throws(CommandError) in
                let receipt = try await record()
                stage = .recorded(receipt)
                return receipt
            }
        } catch {
            throw .store(error)
        }
        noteReceipt(receipt)
        if isCancelAsked { await cancel() }
        return receipt
    }

    private func record() async throws(CommandError) -> Receipt {
        let store = try link.openStore
        if case .rejected(let number) = stage {
            return try await store.retry(number, with: nil, force: false)
        }
        return try await store.record(
            event, force: false, confirmOnly: true, once: once, replacing: nil, held: false,
            info: wait.initiator.info)
    }

    private func answer(to receipt: Receipt) async throws(IntentFailure) -> Answer {
        await link.adoptNow()
        var states = IntentCursor(receipt.core, receipt.id)
        while let data = await states.next(isolation: #isolation) {
            await link.adoptNow()
            switch data {
            case .notAsked, .loading: run.handle(.signOfLife)
            case .success(let answer): return answer
            case .failure(let failure): throw failure
            }
        }
        throw .store(.log(.cancelled))
    }

    // MARK: Ends

    /// Ends the wait with the news of a rejection, in the turn of the main actor that shows the
    /// view without the intent (U27).
    ///
    /// - Parameter isTold: whether another wait announces the rejection.
    /// - Returns: whether this wait announces it: not if nobody waits any more.
    func end(with news: RejectedIntent, isTold: Bool) -> Bool {
        let isHeard =
            !isTold && run.isWaiting && wait.initiator.isPerson  // mutant: rejection-heard
        stage = .rejected(news.recorded.number)
        isOver = true
        let failed = ProgressInput.failed(news.recovery)
        if isHeard { run.handle(failed) } else { run.handleSilently(failed) }
        return isHeard
    }

    private func end(_ answer: Result<Answer, IntentFailure>, of round: Int) {
        guard round == rounds, !isOver else { return }
        isOver = true
        switch (answer, stage) {
        case (.success, _): run.handle(.succeeded)
        case (.failure(.rejected(let rejection)), .recorded(let receipt)):
            // The log could not be read for the news, which announce it later.
            stage = .rejected(receipt.number)
            run.handleSilently(.failed(Recovery(reason: rejection.message)))
        // The intent stays in the log.
        case (.failure(.store(.log(.cancelled))), .recorded): run.handle(.continuedInBackground)
        // The rejection was retried or dismissed elsewhere.
        case (.failure(.store(.notRejected)), _): run.handle(.cancelled)
        case (.failure(let failure), _):
            run.handle(failure.recovery.map { .failed($0) } ?? .cancelled)
        }
    }

    // MARK: Actions

    private func carryOut(_ action: WaitAction) async {
        switch action {
        case .cancel: await cancel()
        case .continueInBackground: run.handle(.continuedInBackground)
        case .restart:
            run.handle(.restarted)
            // The wait shows how it ends.
            if isOver { _ = try? await answer() }
        }
    }

    /// Takes back the intent. If it has left the device, the server decides on it.
    private func cancel() async {
        guard case .recorded(let receipt) = stage else {
            isCancelAsked = true
            return
        }
        isCancelAsked = false
        do throws(CommandError) {
            try await link.withdraw(receipt.number)
        } catch .notPending(_, let state) where state.isSettled {
            // The answer ends the wait.
        } catch {
            run.handle(.continuedInBackground)
        }
    }
}
