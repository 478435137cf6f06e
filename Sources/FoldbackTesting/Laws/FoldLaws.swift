import Foldback

/// The laws that compare a log with itself and with the reference model.
extension Trial {
    /// P1, within this process.
    func determinism() async throws -> Violation? {
        let logStepsAgain = try await Self.logSteps(of: script)
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

    /// Folds all events twice, in two orders: events that were refused or settled early in the script meet
    /// other events here. Every law that folds events in another order relies on this.
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
        var log = try LogUnderTest<P>(script.kind)
        for step in script.steps { _ = try await log.perform(step) }
        var reference = ReferenceLog<P>(script.kind)
        for modelStep in modelSteps { _ = modelStep.command.map { reference.carryOut($0) } }
        for sequence in 0...reference.facts.count
        where sequence <= log.store.snapshot.sequence.value {
            let past = LogSequence(UInt64(sequence))
            let found = try await Observation<P>(of: log.store, at: past)
            let expected = Observation<P>(reference.state(at: sequence), sequence: sequence)
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

    /// P3: with a checkpoint after a third of the steps, after two thirds, and at the end.
    func checkpointPlusTail() async throws -> Violation? {
        guard P.stateCodec != nil, let last = logSteps.last else { return nil }
        let count = script.steps.count
        for place in Set([count / 3, count * 2 / 3, count]).sorted() {
            var log = try LogUnderTest<P>(script.kind)
            var sequence: LogSequence = 0
            for (index, step) in script.steps.enumerated() {
                if index == place { sequence = try await log.checkpointed() }
                if case .checkpoint = step { continue }
                _ = try await log.perform(step)
            }
            if place == count { sequence = try await log.checkpointed() }
            let reopened = try log.afterCrash()
            if let refused = reopened.replayStart.refused.first {
                return Violation(
                    .p3, "refused",
                    "The checkpoint after step \(place) cannot be used: \(refused.reason).")
            }
            guard sequence == 0 || reopened.replayStart.checkpoint >= sequence else {
                return Violation(
                    .p3, "unused",
                    "The checkpoint at sequence \(sequence), after step \(place), was not used.")
            }
            if let difference = try Observation(allOf: reopened).difference(from: last.observation)
            {
                return Violation(
                    .p3, difference,
                    "Opened from the checkpoint after step \(place), with the entries since then,",
                    expected: "the log that stayed open", found: "from the checkpoint")
            }
        }
        return nil
    }
}
