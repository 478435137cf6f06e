import Foldback

/// A store whose commands can be queued together, so that they go into one transaction and are timed as
/// one batch.
struct GatedStore<P: EventFold>: Sendable {
    let store: Store<P>
    /// Calls of `apply` so far.
    let counts: @Sendable (Store<P>) -> FoldCounts
    let gate: WriterGate

    /// Queues them all, then lets the writer go: the time from the first being queued to the last
    /// caller being resumed.
    func cost(of commands: [Command]) async throws -> BatchCost {
        gate.close()
        // Refused, but only when the writer has asked for the time.
        let held = try await store.core.runner.submit(
            .command(.change(0, .withdraw), isForced: true), bytes: 0)
        gate.waitForWriter()
        let before = counts(store)
        let clock = ContinuousClock()
        let start = clock.now
        var requests: [Request] = []
        requests.reserveCapacity(commands.count)
        for command in commands {
            requests.append(
                try await store.core.runner.submit(.command(command, isForced: true), bytes: 64))
        }
        gate.open()
        for request in requests { _ = try await request.outcome() }
        let elapsed = clock.now - start
        let after = counts(store)
        await requireRefused(held)
        return BatchCost(
            elapsed: elapsed,
            folds: FoldCounts(
                overlay: after.overlay - before.overlay,
                confirmed: after.confirmed - before.confirmed))
    }

    private func requireRefused(_ request: Request) async {
        do throws(FoldbackError) {
            let outcome = try await request.outcome()
            preconditionFailure("there is no intent 0, and withdrawing it gave \(outcome)")
        } catch {
            guard case .unknownIntent = error else {
                preconditionFailure("withdrawing intent 0 gave \(error)")
            }
        }
    }
}

/// What a batch of commands took.
struct BatchCost: Sendable {
    let elapsed: Duration
    /// Calls of `apply`.
    let folds: FoldCounts
}

extension Store {
    /// Carries them out as fast as one task can, in as many transactions as it takes.
    func perform(_ commands: [Command]) async throws {
        var requests: [Request] = []
        requests.reserveCapacity(commands.count)
        for command in commands {
            requests.append(
                try await core.runner.submit(.command(command, isForced: true), bytes: 64))
        }
        for request in requests { _ = try await request.outcome() }
    }
}
