import Foldback

/// Holds histories of one projection against laws.
struct Judge<P: Projection>: Sendable {
    let itemIDs: ItemIDs<P>?
    let elsewhere = Elsewhere<P>()

    init(itemIDs: ItemIDs<P>?) { self.itemIDs = itemIDs }

    /// How one law is broken by one history; nil where it holds.
    nonisolated(nonsending) func violation(
        of law: Law, _ history: History<P.Event>, onDisk: Bool
    ) async -> Violation? {
        if let violation = died(history) { return law == .p14 ? violation : nil }
        if law == .p14 { return nil }
        do {
            let trial = try await Trial<P>(history)
            return try await self.violation(of: law, trial, onDisk: onDisk)
                ?? (law == .p1 ? differsElsewhere(trial) : nil)
        } catch {
            return Self.violation(of: law, error)
        }
    }

    /// The same without another process: for histories that one has folded already.
    nonisolated(nonsending) func violation(
        of law: Law, _ trial: Trial<P>, onDisk: Bool
    ) async throws -> Violation? {
        switch law {
        case .p1: return try await trial.determinism()
        case .p2: return try await trial.incrementalEqualsRefold()
        case .p3: return try await trial.checkpointPlusTail()
        case .p4: return try await trial.rejectedEqualsAbsent()
        case .p5: return try await trial.confirmedEqualsServersEvents()
        case .p7: return try await trial.duplicatesChangeNothing()
        case .p8: return try await trial.anyOrderOfAnswers()
        case .p9: return trial.disjointKeysCommute()
        case .p10: return try await trial.reopening(onDisk: onDisk)
        case .p11: return try trial.codecRoundTrip()
        case .p12: return trial.noIntentIsLost()
        case .p13: return itemIDs.flatMap { trial.itemIDsStay($0) }
        case .f9: return trial.throwsChangeNothing()
        case .p14, .p15: return nil
        }
    }

    /// What a log should not have thrown.
    static func violation(of law: Law, _ error: any Error) -> Violation? {
        if let violation = error as? Violation { return violation.law == law ? violation : nil }
        return Violation(law, "error", "The log cannot go on: \(error).")
    }

    // MARK: In another process

    /// P14: the other process did not come to the end of the history. Whatever is asked, such a history
    /// must not be folded in this one.
    private func died(_ history: History<P.Event>) -> Violation? {
        // Many are tried while a failure shrinks, and a second is long for a few steps.
        let result = try? elsewhere.fold(history, in: 0, stepSecondsMax: 1)
        guard case .died(let step, let how)? = result else { return nil }
        return Self.trap(history, step, how)
    }

    static func trap(_ history: History<P.Event>, _ step: Int, _ how: String) -> Violation {
        let notation = history.steps[step].notation(of: history.steps, at: step)
        return Violation(
            .p14, "died",
            "Folding step \(step + 1), \(notation), another process of this program did not come to "
                + "its end: \(how)")
    }

    /// P1: in several other processes, for what depends on the order of a dictionary's keys is the same
    /// in two of them now and then.
    private func differsElsewhere(_ trial: Trial<P>) -> Violation? {
        for index in 0..<Elsewhere<P>.processCount {
            let result = try? elsewhere.fold(trial.history, in: index, stepSecondsMax: 10)
            guard case .folded(let states)? = result else { return nil }
            if let violation = Self.difference(of: states, from: trial) { return violation }
        }
        return nil
    }

    static func difference(
        of states: [Elsewhere<P>.States], from trial: Trial<P>
    ) -> Violation? {
        for (index, states) in states.enumerated() {
            guard let (name, here, there) = states.difference(from: trial.refolded[index].state)
            else { continue }
            return Violation(
                .p1, "elsewhere",
                "Another process of the same program folds the same events to something else. Behind "
                    + "\(trial.named(index)) \(name) differs: does it depend on the order of a dictionary or "
                    + "set, or on anything outside the event and its context?",
                comparing: Violation.Comparison(
                    expectedName: "this process", expected: StateText(here),
                    foundName: "another process", found: there))
        }
        return nil
    }

    // MARK: Reporting

    nonisolated(nonsending) func finding(
        _ violation: Violation, _ history: History<P.Event>, _ shrinking: Finding.Shrinking,
        historiesTried: Int
    ) async -> Finding {
        let trial = violation.law == .p14 ? nil : try? await Trial<P>(history)
        return Finding(violation, history, trial, shrinking, historiesTried: historiesTried)
    }
}
