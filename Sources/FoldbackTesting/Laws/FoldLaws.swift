import Foldback

/// The laws that compare a log with itself and with the reference model.
extension Trial {
    /// P1, within this process.
    func determinism() async throws -> Violation? {
        let (logStepsAgain, _) = try await Self.logSteps(of: script)
        for (index, (first, second)) in zip(logSteps, logStepsAgain).enumerated() {
            guard let difference = second.observation.difference(from: first.observation) else {
                continue
            }
            return Violation(
                .p1, difference,
                "The same script ran twice; time, chance and ids must come from the event and its "
                    + "context. After \(named(index))",
                expected: "the first time", found: "the second time", manner: "here")
        }
        let modelStepsAgain = Self.modelSteps(of: script)
        for (index, (first, second)) in zip(modelSteps, modelStepsAgain).enumerated() {
            guard let difference = second.observation.difference(from: first.observation) else {
                continue
            }
            return Violation(
                .p1, difference, "The same events were folded twice. After \(named(index))",
                expected: "the first time", found: "the second time", manner: "here")
        }
        return inOtherOrders()
    }

    /// Folds all events twice, in two orders: events that were refused or settled early in the
    /// script meet other events here. Every law that folds events in another order relies on this.
    private func inOtherOrders() -> Violation? {
        let events = script.recordedEvents
        let order = serversOrder(of: events.count)
        for order in [order, order.reversed()] {
            let (first, second) = (plainFold(events, in: order), plainFold(events, in: order))
            guard !P.areSame(first, second) else { continue }
            return Violation(
                .p1, "here", "All events of the script were folded twice, in the same order.",
                expected: ("the first time", first), found: ("the second time", second))
        }
        return nil
    }

    /// P2: after each step, and for every past sequence.
    func incrementalEqualsRefold() async throws -> Violation? {
        for (index, (logStep, modelStep)) in zip(logSteps, modelSteps).enumerated() {
            if logStep.result != modelStep.result {
                let (found, expected) = (logStep.result, modelStep.result)
                return Violation(
                    .p2, "outcome",
                    "At \(named(index)) the log answers \(found.map { "\($0)" } ?? "nothing"), and should "
                        + "answer \(expected.map { "\($0)" } ?? "nothing").")
            }
            if let difference = logStep.observation.difference(from: modelStep.observation) {
                return Violation(
                    .p2, difference, "After \(named(index))",
                    expected: "a fold of all entries from the first one", found: "the log")
            }
            if let flaw = logStep.changeFlaw {
                return Violation(
                    .p2, "changes",
                    "At \(named(index)) the reported changes of stored rows are wrong: \(flaw).")
            }
        }
        return try await pastViews()
    }

    private func pastViews() async throws -> Violation? {
        guard let store = log?.store else { return nil }
        var expected = [0: Observation(ReferenceLog<P>.State(), sequence: 0)]
        for modelStep in modelSteps { expected[modelStep.sequence] = modelStep.observation }
        for (sequence, expected) in expected.sorted(by: { $0.key < $1.key })
        where sequence <= store.snapshot.sequence.value {
            let found = try await Observation<P>(of: store, at: LogSequence(UInt64(sequence)))
            let parts: Set<Observation<P>.Part> = [
                .view, .confirmed, .pending, .accepted, .conflicted, .faults,
            ]
            guard let difference = found.difference(from: expected, parts) else { continue }
            return Violation(
                .p2, difference, "At the past sequence \(sequence),",
                expected: "a fold of the entries up to this sequence", found: "the log")
        }
        return nil
    }

    /// P3: with a checkpoint after a third of the steps, after two thirds, and at the end. Each is
    /// read with the entries up to the next.
    func checkpointPlusTail() async throws -> Violation? {
        guard P.stateCodec != nil else { return nil }
        let count = script.steps.count
        var log = try LogUnderTest<P>(script.kind)
        var newest: (sequence: LogSequence, place: Int) = (0, 0)
        for (index, step) in script.steps.enumerated() {
            if index == count / 3 || index == count * 2 / 3 {
                if let violation = try tail(of: log, newest, index) { return violation }
                newest = (try await log.checkpointed(), index)
            }
            if case .checkpoint = step { continue }
            _ = try await log.perform(step)
        }
        if let violation = try tail(of: log, newest, count) { return violation }
        newest = (try await log.checkpointed(), count)
        return try tail(of: log, newest, count)
    }

    /// Opens a copy of the log from its newest checkpoint.
    private func tail(
        of log: LogUnderTest<P>, _ newest: (sequence: LogSequence, place: Int), _ index: Int
    ) throws -> Violation? {
        guard index > 0, newest.sequence > 0 else { return nil }
        let reopened = try log.afterCrash()
        if let refused = reopened.replayStart.refused.first {
            return Violation(
                .p3, "refused",
                "The checkpoint after step \(newest.place) cannot be used: \(refused.reason).")
        }
        guard reopened.replayStart.checkpoint >= newest.sequence else {
            return Violation(
                .p3, "unused",
                "The checkpoint at sequence \(newest.sequence), after step \(newest.place), was not used."
            )
        }
        let expected = logSteps[index - 1].observation
        return try Observation(allOf: reopened).difference(from: expected).map { difference in
            Violation(
                .p3, difference,
                "Opened from the checkpoint after step \(newest.place), with the entries up to step "
                    + "\(index),",
                expected: "the log that stayed open", found: "from the checkpoint")
        }
    }
}
