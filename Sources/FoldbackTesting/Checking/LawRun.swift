import Foldback

/// One run of ``checkLaws(of:events:itemIDs:laws:effort:seed:failures:file:)``: kept failures, then random
/// scripts, then fleets, until the effort is spent or every law is broken.
struct LawRun<P: Projection> {
    private struct Manner: Hashable {
        let law: Law
        let manner: String

        /// A nondeterministic fold breaks P1 in another manner each time.
        init(_ violation: Violation) {
            law = violation.law
            manner = violation.law == .p1 ? "" : violation.manner
        }
    }

    /// Scripts for one child process; the next process has another hash seed.
    private static var scriptsPerProcess: Int { 50 }
    /// One script in this many also runs on disk.
    private static var diskShare: Int { 16 }
    /// There is one fleet for this many scripts.
    private static var fleetShare: Int { 4 }
    /// The fleets' part of the time. A fleet takes about an eighth of the time of a script.
    private static var fleetTimeShare: Double { 0.1 }
    /// How often a script that breaks another law is checked for P1 again.
    private static var recheckCount: Int { 5 }

    private let generator: Generator<Script<P.Event>>
    private let events: Generator<P.Event>
    private let checker: LawChecker<P>
    private let effort: Effort
    private let corpus: FailureCorpus
    /// The laws that are not broken yet.
    private var open: [Law]
    private var declaresKeys = false
    private var found: Set<Manner> = []
    private(set) var report: LawReport
    private var tried = 0

    init(
        events: Generator<P.Event>, checker: LawChecker<P>, laws: Set<Law>, effort: Effort,
        seed: UInt64, corpus: FailureCorpus
    ) {
        generator = events.scripts(nil, steps: effort.stepsMax)
        self.events = events
        self.checker = checker
        self.effort = effort
        self.corpus = corpus
        open = Law.allCases.filter { laws.contains($0) }
        report = LawReport(
            projection: "\(P.self)", seed: seed, held: [], findings: [], unchecked: [],
            counts: ["scripts": 0, "steps": 0])
    }

    nonisolated(nonsending) mutating func run() async {
        noteUnchecked()
        await runKeptScripts()
        let isAlone = open == [.p15]
        let share = isAlone ? 1 : open.contains(.p15) ? Self.fleetTimeShare : 0
        await runScripts(atMost: effort.durationMax.map { $0 * (1 - share) })
        // Fleets come last: an `apply` that traps would end this process. By now P14 has found it.
        await runKeptFleets()
        await runFleets(
            isAlone ? effort.scriptsMax : tried / Self.fleetShare,
            atMost: effort.durationMax.map { $0 * share })
        finish()
    }

    private nonisolated(nonsending) mutating func runScripts(
        atMost durationMax: Duration?
    ) async {
        let start = System.now
        var shrinking = Duration.zero
        while open.contains(where: { $0 != .p15 }), tried < effort.scriptsMax {
            if let durationMax, System.now - start - shrinking > durationMax { break }
            var choices = Choices(seed: report.seed &+ UInt64(tried) &* 0x9E37_79B9)
            tried += 1
            guard let script = try? generator.generate(from: &choices) else { continue }
            if tried % Self.scriptsPerProcess == 0 { checker.restartChild() }
            let violations = await violations(of: script)
            let shrinkingStart = System.now
            for violation in violations { await shrink(violation, choices.recording, script) }
            shrinking += System.now - shrinkingStart
        }
    }

    /// Notes the laws that cannot be checked at all.
    private mutating func noteUnchecked() {
        for law in open {
            guard let reason = checker.uncheckable(law) else { continue }
            open.removeAll { $0 == law }
            leave(law, because: reason)
        }
    }

    private mutating func finish() {
        if open.contains(.p9), !declaresKeys {
            open.removeAll { $0 == .p9 }
            leave(.p9, because: "keys(touchedBy:) returns no keys")
        }
        report.held = open
        report.counts["scripts"] = tried
    }

    // MARK: Scripts

    private nonisolated(nonsending) mutating func runKeptScripts() async {
        for (name, script) in corpus.scripts(P.codec) {
            switch script {
            case .failure(let error): await noteUnreadable(name, error)
            case .success(let script):
                for violation in await violations(of: script) {
                    await note(violation, script, .given)
                }
            }
        }
    }

    /// This projection's codec wrote the script, maybe in an older version. Logs of users may have such events
    /// too, so this breaks P11.
    private nonisolated(nonsending) mutating func noteUnreadable(
        _ name: String, _ error: any Error
    ) async {
        let statement = "The script kept in \(name) cannot be read any more: \(error)."
        guard open.contains(.p11) else {
            leave(.p11, because: statement)
            return
        }
        await note(
            Violation(.p11, name, statement), Script(.downlink, []), .given)
    }

    private nonisolated(nonsending) mutating func violations(
        of script: Script<P.Event>
    ) async -> [Violation] {
        let check = await checker.check(
            script, open, onDisk: tried % Self.diskShare == 0, processes: 1)
        count(script)
        if let reason = check.unavailable, open.contains(.p14) {
            open.removeAll { $0 == .p14 }
            leave(.p14, because: reason)
            leave(.p1, because: "folded in this process only: \(reason)")
        }
        return await cause(of: check.violations, in: script)
    }

    /// A nondeterministic fold sometimes breaks other laws, and P1 does not always show it at once. So the
    /// script is checked for P1 a few more times before another law is reported.
    private nonisolated(nonsending) func cause(
        of violations: [Violation], in script: Script<P.Event>
    ) async -> [Violation] {
        // A trap or an unreadable event is certain.
        let certain: Set<Law> = [.p1, .p11, .p14]
        guard open.contains(.p1), violations.contains(where: { !certain.contains($0.law) }) else {
            return violations
        }
        for _ in 0..<Self.recheckCount {
            let again = await checker.check(
                script, [.p1], onDisk: false, processes: ChildProcessChecker<P>.processCount)
            if !again.violations.isEmpty { return again.violations }
        }
        return violations
    }

    private mutating func count(_ script: Script<P.Event>) {
        func add(_ name: String, _ count: Int = 1) { report.counts[name, default: 0] += count }
        add("steps", script.steps.count)
        for step in script.steps { add(step.name) }
        declaresKeys =
            declaresKeys || P.hasRowsBeside
            || script.recordedEvents.contains {
                !P.keys(touchedBy: $0, ReferenceLog<P>.context(of: 1)).isEmpty
            }
    }

    // MARK: Fleets

    private nonisolated(nonsending) mutating func runFleets(
        _ countMax: Int, atMost durationMax: Duration?
    ) async {
        let simulation = Simulation(of: P.self, events: events, replicas: 2, stepsMax: 24)
        let start = System.now
        var count = 0
        while open.contains(.p15), count < countMax {
            if let durationMax, System.now - start > durationMax { break }
            let run = await simulation.run(seed: report.seed &+ UInt64(count) &* 0x9E37_79B9)
            count += 1
            report.counts["fleets", default: 0] += 1
            report.counts["fleet operations", default: 0] += run.operations
            note(
                await simulation.finding(
                    in: run, candidatesMax: effort.candidatesMax, runsTried: count))
        }
    }

    private nonisolated(nonsending) mutating func runKeptFleets() async {
        for (name, fleet) in corpus.fleets() where open.contains(.p15) {
            switch fleet {
            case .failure(let error):
                leave(.p15, because: "\(name) cannot be read any more: \(error)")
            case .success(let recorded):
                let simulation = Simulation(
                    of: P.self, events: events, replicas: recorded.replicas,
                    stepsMax: recorded.stepsMax)
                let run = await simulation.run(choices: recorded.choices)
                note(await simulation.finding(in: run, candidatesMax: 0, runsTried: 0))
            }
        }
    }

    private mutating func note(_ finding: Finding?) {
        guard let finding else { return }
        open.removeAll { $0 == .p15 }
        add(finding)
    }

    // MARK: Findings

    private nonisolated(nonsending) mutating func shrink(
        _ violation: Violation, _ recording: RecordedChoices, _ script: Script<P.Event>
    ) async {
        let law = violation.law
        let (generator, checker) = (generator, checker)
        let onDisk = law == .p10
        // Whether the order of a dictionary matters shows only sometimes, and in some processes.
        let processes = law == .p1 ? ChildProcessChecker<P>.processCount : 1
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

    private nonisolated(nonsending) mutating func note(
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
        add(await checker.finding(violation, script, shrinking, scriptsTried: tried))
    }

    private mutating func add(_ finding: Finding) {
        report.findings.append(finding)
        guard finding.stepCount > 0, !finding.ndjson.isEmpty else { return }
        do { try corpus.keep(finding) } catch {
            leave(finding.law, because: "it could not be kept: \(error)")
        }
    }

    private mutating func leave(_ law: Law, because reason: String) {
        report.unchecked.append(LawReport.Unchecked(law: law, reason: reason))
    }

    private mutating func abandon(because reason: String) {
        for law in open { leave(law, because: reason) }
        open = []
    }
}
