import Foldback

/// Checks laws with scripts for one projection, in another process if there can be one.
struct LawChecker<P: Projection>: Sendable {
    let itemIDs: ItemIDs<P>?
    /// How long a step may take before it counts as never ending.
    let stepMax: Duration
    private let children = ChildProcessChecker<P>()

    init(itemIDs: ItemIDs<P>?, stepMax: Duration) {
        self.itemIDs = itemIDs
        self.stepMax = stepMax
    }

    /// The result of checking laws with one script.
    struct LawCheck: Sendable {
        var violations: [Violation] = []
        /// Why no other process checked the script; nil if one did.
        var unavailable: String?
        /// Whether a state has an item, for P13.
        var hasItems = false
        /// The pairs of ``Coverage`` that the script has, as often as they occur.
        var pairs: [String: Int] = [:]
    }

    /// Checks laws with a script.
    ///
    /// After a violation of P1, P11 (of events) or P14 it reports only that: a fold that is
    /// nondeterministic, misread or ends the process says nothing about the other laws.
    /// - Parameter processes: the other processes that fold the script, within
    ///   ``ChildProcessChecker/processCount``. The first also checks the laws.
    nonisolated(nonsending) func check(
        _ script: Script<P.Event>, _ laws: [Law], onDisk: Bool, processes: Range<Int>
    ) async -> LawCheck {
        if laws.contains(.p11), let violation = Trial<P>.eventRoundTrip(script) {
            return LawCheck(violations: [violation])
        }
        let rest = laws.filter { $0 != .p13 && $0 != .p14 && $0 != .p15 }
        var result = LawCheck()
        var modelSteps: [Trial<P>.ModelStep]?
        for index in processes {
            let task = ChildProcessChecker<P>.Task(
                laws: index == processes.lowerBound ? rest : [], onDisk: onDisk)
            switch try? await children.check(script, task, in: index, stepMax: stepMax) {
            case .checked(let states, let violations):
                // Folded in this process only after another process survived it.
                let here = modelSteps ?? Trial<P>.modelSteps(of: script)
                modelSteps = here
                result.violations += violations
                // A violation within one process is more telling than a difference between two.
                if violations.contains(where: { $0.law == .p1 }) { return result }
                if laws.contains(.p1),
                    let violation = Self.difference(of: states, from: here, script)
                {
                    return LawCheck(violations: [violation])
                }
            case .died(let place, let how):
                let violation = Self.trap(script, place, how)
                return LawCheck(violations: laws.contains(.p14) ? [violation] : [])
            case .unavailable(let reason):
                var here = await checkHere(script, rest, onDisk: onDisk)
                here.unavailable = reason
                return completed(here, laws, Trial<P>.modelSteps(of: script), script)
            case nil:
                // P11 is not among the laws.
                var here = await checkHere(script, rest, onDisk: onDisk)
                here.unavailable = "the codec cannot write the events of a script"
                return completed(here, laws, Trial<P>.modelSteps(of: script), script)
            }
        }
        return completed(result, laws, modelSteps ?? [], script)
    }

    /// Why a law cannot be checked, and what to do; nil if it can.
    func uncheckable(_ law: Law) -> LawReport.Unchecked? {
        switch law {
        case .p13 where itemIDs == nil:
            LawReport.Unchecked(
                law: law, reason: "no item ids were given",
                remedy: P.hasRowsBeside
                    ? "Give rowIDs, like ItemIDs(keysOf: table), or leave P13 out of laws"
                    : "Give itemIDs, like ItemIDs(\\.items.keys), or leave P13 out of laws")
        case .p3 where P.stateCodec == nil:
            LawReport.Unchecked(
                law: law, reason: "\(P.self) has no state codec, so its logs have no checkpoints",
                remedy: "Make it Codable, give it a stateCodec, or leave P3 out of laws")
        case .p19:
            P.lacksStateCodec.map { lacking in
                LawReport.Unchecked(
                    law: law,
                    reason: "\(lacking) has no state codec, so its logs cannot be compacted",
                    remedy: "Make it Codable, give it a stateCodec, or leave P19 out of laws")
            }
        default: nil
        }
    }

    /// Ends a process, so that the next one has another hash seed.
    func restartProcess(_ index: Int) { children.restart(index) }

    // MARK: In this process

    private nonisolated(nonsending) func checkHere(
        _ script: Script<P.Event>, _ laws: [Law], onDisk: Bool
    ) async -> LawCheck {
        var result = LawCheck()
        await Trial<P>.check(script, laws, onDisk: onDisk) { _ in
        } found: {
            result.violations.append($0)
        }
        return result
    }

    /// Adds what only this process knows: the pairs, and P13, because `itemIDs` is the caller's closure.
    private func completed(
        _ check: LawCheck, _ laws: [Law], _ modelSteps: [Trial<P>.ModelStep],
        _ script: Script<P.Event>
    ) -> LawCheck {
        var check = check
        check.pairs = Trial<P>.pairs(in: script, modelSteps)
        guard laws.contains(.p13), let itemIDs,
            !check.violations.contains(where: { $0.law == .p1 })
        else { return check }
        check.hasItems = modelSteps.contains { !itemIDs.of($0.state.view).isEmpty }
        if let violation = Trial<P>(of: script, modelSteps).itemIDsStay(itemIDs) {
            check.violations.append(violation)
        }
        return check
    }

    private static func trap(
        _ script: Script<P.Event>, _ place: ChildProcessChecker<P>.End, _ how: String
    ) -> Violation {
        let action: String
        switch place {
        case .step(let step) where step < script.steps.count:
            let notation = script.steps[step].notation(of: script.steps, at: step)
            action = "Folding step \(step + 1), \(notation), in another process"
        case .step: action = "Another process, after the last step,"
        case .law(let law): action = "Folding the same events in other orders, for \(law),"
        }
        return Violation(.p14, "died", "\(action) did not finish: \(how)")
    }

    private static func difference(
        of states: [ChildProcessChecker<P>.States], from modelSteps: [Trial<P>.ModelStep],
        _ script: Script<P.Event>
    ) -> Violation? {
        for (index, (states, modelStep)) in zip(states, modelSteps).enumerated() {
            guard let (name, here, there) = states.difference(from: modelStep.state) else {
                continue
            }
            return Violation(
                .p1, "elsewhere",
                "Another process of the same program folds the same events to another state. After "
                    + "\(script.named(index)) \(name) differs. Does it depend on the order of a dictionary "
                    + "or set, or on anything outside the event and its context, like a global that main "
                    + "sets?",
                comparing: Violation.Comparison(
                    expectedName: "this process", expected: here,
                    foundName: "another process", found: there))
        }
        return nil
    }

    // MARK: Reporting

    nonisolated(nonsending) func finding(
        _ violation: Violation, _ script: Script<P.Event>, _ shrinking: Finding.Shrinking,
        scriptsTried: Int
    ) async -> Finding {
        let trial = violation.law == .p14 ? nil : try? await Trial<P>(script)
        return Finding(violation, script, trial, shrinking, scriptsTried: scriptsTried)
    }
}
