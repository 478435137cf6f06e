import Foldback

/// The laws that compare a log with itself and with the refold.
extension Trial {
    /// P1, within this process.
    func determinism() async throws -> Violation? {
        let again = try await Self.passages(of: history)
        for (index, (first, second)) in zip(passages, again).enumerated() {
            guard let difference = second.sight.difference(from: first.sight) else { continue }
            return Violation(
                .p1, difference,
                "The same history was carried out twice; time, chance and ids have to come from the event and "
                    + "its context. Behind \(named(index))",
                expected: "the first time", found: "the second time", manner: "here")
        }
        let refoldedAgain = Self.refolded(history)
        for (index, (first, second)) in zip(refolded, refoldedAgain).enumerated() {
            guard let difference = second.sight.difference(from: first.sight) else { continue }
            return Violation(
                .p1, difference, "The same events were folded twice. Behind \(named(index))",
                expected: "the first time", found: "the second time", manner: "here")
        }
        return inOtherOrders()
    }

    /// Events that were refused, or settled early, meet others too: every law that folds them otherwise
    /// than the history did relies on it.
    private func inOtherOrders() -> Violation? {
        let events = history.recordedEvents
        let order = serversOrder(of: events.count)
        for order in [order, order.reversed()] {
            let (first, second) = (plainFold(events, in: order), plainFold(events, in: order))
            guard !P.areSame(first, second) else { continue }
            return Violation(
                .p1, "here", "All events of the history were folded twice, one after the other.",
                expected: ("the first time", first), found: ("the second time", second))
        }
        return nil
    }

    /// P2: behind each step, and for every past sequence.
    func incrementalEqualsRefold() async throws -> Violation? {
        for (index, (passage, refolded)) in zip(passages, refolded).enumerated() {
            if passage.outcome != refolded.outcome {
                let (found, expected) = (passage.outcome, refolded.outcome)
                return Violation(
                    .p2, "outcome",
                    "At \(named(index)) the log says \(found.map { "\($0)" } ?? "nothing"), and should "
                        + "say \(expected.map { "\($0)" } ?? "nothing").")
            }
            if let difference = passage.sight.difference(from: refolded.sight) {
                return Violation(
                    .p2, difference, "Behind \(named(index))",
                    expected: "folding all entries from the first one on", found: "the log")
            }
            if let flaw = passage.flawInChanges {
                return Violation(
                    .p2, "changes",
                    "At \(named(index)) whoever watches stored rows is told something else than they "
                        + "show: \(flaw).")
            }
        }
        return try await pastViews()
    }

    private func pastViews() async throws -> Violation? {
        var subject = try LogUnderTest<P>(history.kind)
        for step in history.steps { _ = try await subject.perform(step) }
        var reference = ReferenceLog<P>(history.kind)
        for refolded in refolded { _ = refolded.command.map { reference.carryOut($0) } }
        for sequence in 0...reference.facts.count
        where sequence <= subject.store.snapshot.sequence.value {
            let past = LogSequence(UInt64(sequence))
            let found = try await Observation<P>(of: subject.store, at: past)
            let expected = Observation<P>(reference.state(at: sequence), sequence: sequence)
            let parts: Set<Observation<P>.Part> = [
                .view, .confirmed, .pending, .accepted, .conflicted, .faults,
            ]
            guard let difference = found.difference(from: expected, parts) else { continue }
            return Violation(
                .p2, difference, "Of the past at sequence \(sequence),",
                expected: "folding the entries up to there", found: "the log")
        }
        return nil
    }

    /// P3: with a checkpoint behind a third, behind two thirds, and at the end.
    func checkpointPlusTail() async throws -> Violation? {
        guard P.stateCodec != nil, let last = passages.last else { return nil }
        let count = history.steps.count
        for place in Set([count / 3, count * 2 / 3, count]).sorted() {
            var subject = try LogUnderTest<P>(history.kind)
            var sequence: LogSequence = 0
            for (index, step) in history.steps.enumerated() {
                if index == place { sequence = try await subject.checkpointed() }
                if case .checkpoint = step { continue }
                _ = try await subject.perform(step)
            }
            if place == count { sequence = try await subject.checkpointed() }
            let left = try subject.left()
            if let refused = left.replayStart.refused.first {
                return Violation(
                    .p3, "refused",
                    "The checkpoint behind step \(place) cannot be used: \(refused.reason).")
            }
            guard sequence == 0 || left.replayStart.checkpoint >= sequence else {
                return Violation(
                    .p3, "unused",
                    "The checkpoint at sequence \(sequence), behind step \(place), was not used.")
            }
            if let difference = try Observation(allOf: left).difference(from: last.sight) {
                return Violation(
                    .p3, difference,
                    "Opened from the checkpoint behind step \(place), with the entries since,",
                    expected: "the log that was not closed", found: "from the checkpoint")
            }
        }
        return nil
    }
}
