import Foldback

/// Holds histories of one projection against laws: in another process where there can be one.
struct LawChecker<P: Projection>: Sendable {
    let itemIDs: ItemIDs<P>?
    /// How long a step may take before it counts as never ending.
    let stepMax: Duration
    private let elsewhere = ChildProcessChecker<P>()

    init(itemIDs: ItemIDs<P>?, stepMax: Duration) {
        self.itemIDs = itemIDs
        self.stepMax = stepMax
    }

    /// What one history says of laws.
    struct LawCheck: Sendable {
        var violations: [Violation] = []
        /// Why nothing was judged in another process; nil where it was.
        var unavailable: String?
    }

    /// What does not hold, the most telling first.
    ///
    /// Of what is another thing each time (P1), what traps (P14) and what is read as something else than
    /// was written (P11) nothing more is said, for nothing more can be said.
    /// - Parameter processes: how many other processes fold it, of ``ChildProcessChecker/processCount``.
    nonisolated(nonsending) func judgement(
        on history: Script<P.Event>, _ laws: [Law], onDisk: Bool, processes: Int
    ) async -> LawCheck {
        if laws.contains(.p11), let violation = Trial<P>.eventRoundTrip(history) {
            return LawCheck(violations: [violation])
        }
        let rest = laws.filter { $0 != .p13 && $0 != .p14 && $0 != .p15 }
        var judgement = LawCheck()
        var refolded: [Trial<P>.Refolded]?
        for index in 0..<processes {
            let task = ChildProcessChecker<P>.Task(laws: index == 0 ? rest : [], onDisk: onDisk)
            switch try? elsewhere.judge(history, task, in: index, stepMax: stepMax) {
            case .judged(let states, let violations):
                // Folded here only behind a process that survived it.
                let here = refolded ?? Trial<P>.refolded(history)
                refolded = here
                judgement.violations += violations
                // What shows within one process is said in that one's words.
                if violations.contains(where: { $0.law == .p1 }) { return judgement }
                if laws.contains(.p1),
                    let violation = Self.difference(of: states, from: here, history)
                {
                    return LawCheck(violations: [violation])
                }
            case .died(let place, let how):
                let violation = Self.trap(history, place, how)
                return LawCheck(violations: laws.contains(.p14) ? [violation] : [])
            case .unavailable(let reason):
                var here = await judgedHere(history, rest, onDisk: onDisk)
                here.unavailable = reason
                return withItemIDs(here, laws, Trial<P>.refolded(history), history)
            case nil:
                // The codec throws, and P11 was not asked for.
                return await judgedHere(history, rest, onDisk: onDisk)
            }
        }
        return withItemIDs(judgement, laws, refolded ?? [], history)
    }

    /// Why nothing can be said of a law; nil where something can.
    func uncheckable(_ law: Law) -> String? {
        switch law {
        case .p13: itemIDs == nil ? "no itemIDs were given" : nil
        case .p3:
            P.stateCodec == nil
                ? "\(P.self) has no state codec, so its logs have no checkpoints" : nil
        default: nil
        }
    }

    /// Ends a process, so that the next one has luck of its own.
    func startAfresh() { elsewhere.startAfresh(0) }

    // MARK: In the process that judges

    /// Calls `found` with what does not hold, and `begins` before each law.
    nonisolated(nonsending) func judge(
        _ history: Script<P.Event>, _ laws: [Law], onDisk: Bool, begins: (Law) -> Void,
        found: (Violation) -> Void
    ) async {
        guard !laws.isEmpty else { return }
        let trial: Trial<P>
        do { trial = try await Trial<P>(history) } catch {
            found(Self.violation(of: .p12, error))
            return
        }
        for law in laws {
            begins(law)
            do {
                guard let violation = try await violation(of: law, trial, onDisk: onDisk) else {
                    continue
                }
                found(violation)
            } catch {
                found(Self.violation(of: law, error))
            }
            if law == .p1 { return }
        }
    }

    private nonisolated(nonsending) func judgedHere(
        _ history: Script<P.Event>, _ laws: [Law], onDisk: Bool
    ) async -> LawCheck {
        var judgement = LawCheck()
        await judge(history, laws, onDisk: onDisk) { _ in
        } found: {
            judgement.violations.append($0)
        }
        return judgement
    }

    private nonisolated(nonsending) func violation(
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
        case .p11: return trial.stateRoundTrip()
        case .p12: return trial.noIntentIsLost()
        case .f9: return trial.throwsChangeNothing()
        case .p13, .p14, .p15: return nil
        }
    }

    /// What a log should not have thrown.
    private static func violation(of law: Law, _ error: any Error) -> Violation {
        error as? Violation ?? Violation(law, "error", "The log cannot go on: \(error).")
    }

    // MARK: In this process

    /// The ids are the caller's closure, which no other process has.
    private func withItemIDs(
        _ judgement: LawCheck, _ laws: [Law], _ refolded: [Trial<P>.Refolded],
        _ history: Script<P.Event>
    ) -> LawCheck {
        var judgement = judgement
        guard laws.contains(.p13), let itemIDs,
            !judgement.violations.contains(where: { $0.law == .p1 }),
            let violation = Trial<P>(refolding: history, refolded).itemIDsStay(itemIDs)
        else { return judgement }
        judgement.violations.append(violation)
        return judgement
    }

    private static func trap(
        _ history: Script<P.Event>, _ place: ChildProcessChecker<P>.Place, _ how: String
    ) -> Violation {
        let what: String
        switch place {
        case .step(let step) where step < history.steps.count:
            let notation = history.steps[step].notation(of: history.steps, at: step)
            what = "Folding step \(step + 1), \(notation),"
        case .step: what = "Behind the last step"
        case .law(let law): what = "Folding the same events in other orders, for \(law),"
        }
        return Violation(
            .p14, "died", "\(what) another process of this program did not come to its end: \(how)")
    }

    private static func difference(
        of states: [ChildProcessChecker<P>.States], from refolded: [Trial<P>.Refolded],
        _ history: Script<P.Event>
    ) -> Violation? {
        for (index, (states, refolded)) in zip(states, refolded).enumerated() {
            guard let (name, here, there) = states.difference(from: refolded.state) else {
                continue
            }
            return Violation(
                .p1, "elsewhere",
                "Another process of the same program folds the same events to something else. Behind "
                    + "\(history.named(index)) \(name) differs: does it depend on the order of a dictionary or "
                    + "set, or on anything outside the event and its context, like a global that main sets?",
                comparing: Violation.Comparison(
                    expectedName: "this process", expected: here,
                    foundName: "another process", found: there))
        }
        return nil
    }

    // MARK: Reporting

    nonisolated(nonsending) func finding(
        _ violation: Violation, _ history: Script<P.Event>, _ shrinking: Finding.Shrinking,
        historiesTried: Int
    ) async -> Finding {
        let trial = violation.law == .p14 ? nil : try? await Trial<P>(history)
        return Finding(violation, history, trial, shrinking, historiesTried: historiesTried)
    }
}
