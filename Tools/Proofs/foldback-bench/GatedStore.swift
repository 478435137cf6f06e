import Foldback

/// A store that carries out commands in one transaction, so that they are timed as one batch.
struct GatedStore<P: EventFold>: Sendable {
    let store: Store<P>
    /// The calls of `apply` so far.
    let counts: @Sendable (Store<P>) -> FoldCounts
    let gate: WriterGate

    /// Queues all commands and then releases the writer.
    ///
    /// The time is measured from queueing the first command until the last caller is resumed.
    func cost(of commands: [Command]) async throws -> BatchCost {
        gate.close()
        // The command is refused, after the writer asked for the time and passed the gate.
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
        do throws(CommandError) {
            let outcome = try await request.outcome()
            preconditionFailure("withdrawing the missing intent 0 returned \(outcome)")
        } catch {
            guard case .log(.unknownIntent) = error else {
                preconditionFailure("withdrawing the missing intent 0 threw \(error)")
            }
        }
    }
}

/// The cost of a batch of commands.
struct BatchCost: Sendable {
    let elapsed: Duration
    /// The calls of `apply`.
    let folds: FoldCounts
}

extension Store {
    /// Carries out the commands as fast as one task can, in any number of transactions.
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
