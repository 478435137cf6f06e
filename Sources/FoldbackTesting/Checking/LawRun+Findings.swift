import Foldback

/// Findings: shrunk, noted once for each manner, and kept.
extension LawRun {
    nonisolated(nonsending) mutating func shrink(
        _ violation: Violation, _ recording: RecordedChoices, _ script: Script<P.Event>
    ) async {
        let law = violation.law
        let (generator, checker) = (generator, checker)
        let onDisk = law == .p10 || law == .p19
        // Whether the order of a dictionary matters shows only sometimes, and in some processes.
        let processes = 0..<(law == .p1 ? ChildProcessChecker<P>.processCount : 1)
        // Violations as they were seen: one that shows only sometimes may not show again.
        var seen: [RecordedChoices: (Violation, Script<P.Event>)] = [:]
        let result = await Shrinker(candidatesMax: effort.candidatesMax).shrink(
            recording, failing: Manner(violation)
        ) { choices in
            guard let candidate = try? generator.generate(from: &choices) else { return .discarded }
            let check = await checker.check(
                candidate, [law], onDisk: onDisk, processes: processes)
            guard let violation = check.violations.first else { return .passes }
            seen[choices.recording] = (violation, candidate)
            return .fails(Manner(violation))
        }
        let shrinking: Finding.Shrinking =
            switch result.ending {
            case .minimalForThesePasses: .minimalForThesePasses(candidates: result.candidates)
            case .stoppedByBudget: .stoppedByBudget(candidates: result.candidates)
            }
        let (smallest, small) = seen[result.smallest] ?? (violation, script)
        await note(smallest, small, shrinking)
        for other in result.others {
            guard let (violation, script) = seen[other.recording] else { continue }
            await note(violation, script, .metOnTheWay)
        }
    }

    nonisolated(nonsending) mutating func note(
        _ violation: Violation, _ script: Script<P.Event>, _ shrinking: Finding.Shrinking
    ) async {
        open.removeAll { $0 == violation.law }
        if violation.law == .p1 {
            abandon(because: "it means nothing for a nondeterministic fold (P1)")
        } else if violation.law == .p14 {
            abandon(because: "apply traps (P14)")
        } else if violation.law == .p11, violation.manner.hasPrefix("event") {
            abandon(because: "the codec reads other events than it wrote (P11)")
        }
        guard found.insert(Manner(violation)).inserted else { return }
        add(
            await checker.finding(
                violation, script, shrinking, scriptsTried: report.scripts.checked))
    }

    mutating func add(_ finding: Finding) {
        report.findings.append(finding)
        guard finding.stepCount > 0, !finding.ndjson.isEmpty else { return }
        do { try corpus.keep(finding) } catch {
            report.failures.append(
                "not kept: the failing script of \(finding.law.rawValue), so the next run does not try "
                    + "it first: \(error)")
        }
    }

    private mutating func abandon(because reason: String) {
        for law in open { leave(law, because: reason) }
        open = []
    }
}
