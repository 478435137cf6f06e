import Foldback

/// One run of ``checkLaws(of:events:itemIDs:laws:effort:seed:failures:file:)``: what was kept, then
/// histories at random, then fleets, until the effort is spent or nothing is left to break.
struct LawRun<P: Projection> {
    private struct Manner: Hashable {
        let law: Law
        let manner: String

        /// What is another thing each time shows itself in another manner each time, too.
        init(_ violation: Violation) {
            law = violation.law
            manner = violation.law == .p1 ? "" : violation.manner
        }
    }

    /// Histories that one other process folds; the next has luck of its own.
    private static var processShare: Int { 50 }
    /// One history in so many is carried out on a disk as well.
    private static var diskShare: Int { 16 }
    /// One fleet for so many histories.
    private static var fleetShare: Int { 4 }
    /// Of the time; a fleet takes about an eighth of what a history takes.
    private static var fleetTimeShare: Double { 0.1 }
    /// How often a history that breaks another law is folded again to see whether it breaks P1.
    private static var suspicion: Int { 5 }

    private let generator: Generator<Script<P.Event>>
    private let events: Generator<P.Event>
    private let judge: LawChecker<P>
    private let effort: Effort
    private let kept: FailureCorpus
    /// Those not found broken yet.
    private var open: [Law]
    private var declaresKeys = false
    private var found: Set<Manner> = []
    private(set) var report: LawReport
    private var tried = 0

    init(
        events: Generator<P.Event>, judge: LawChecker<P>, laws: Set<Law>, effort: Effort,
        seed: UInt64, kept: FailureCorpus
    ) {
        generator = events.scripts(nil, steps: effort.stepsMax)
        self.events = events
        self.judge = judge
        self.effort = effort
        self.kept = kept
        open = Law.allCases.filter { laws.contains($0) }
        report = LawReport(
            projection: "\(P.self)", seed: seed, held: [], findings: [], unchecked: [],
            counts: ["histories": 0, "steps": 0])
    }

    nonisolated(nonsending) mutating func run() async {
        noteUnchecked()
        await tryKept()
        let isAlone = open == [.p15]
        let share = isAlone ? 1 : open.contains(.p15) ? Self.fleetTimeShare : 0
        await tryHistories(atMost: effort.durationMax.map { $0 * (1 - share) })
        // Fleets come last: what traps would end this process, and was found in another one by now.
        await tryKeptFleets()
        await tryFleets(
            isAlone ? effort.historiesMax : tried / Self.fleetShare,
            atMost: effort.durationMax.map { $0 * share })
        finish()
    }

    private nonisolated(nonsending) mutating func tryHistories(
        atMost durationMax: Duration?
    ) async {
        let start = System.now
        var shrinking = Duration.zero
        while open.contains(where: { $0 != .p15 }), tried < effort.historiesMax {
            if let durationMax, System.now - start - shrinking > durationMax { break }
            var choices = Choices(seed: report.seed &+ UInt64(tried) &* 0x9E37_79B9)
            tried += 1
            guard let history = try? generator.generate(from: &choices) else { continue }
            if tried % Self.processShare == 0 { judge.startAfresh() }
            let violations = await violations(of: history)
            let found = System.now
            for violation in violations { await shrink(violation, choices.recording, history) }
            shrinking += System.now - found
        }
    }

    /// Those that cannot be checked at all.
    private mutating func noteUnchecked() {
        for law in open {
            guard let reason = judge.uncheckable(law) else { continue }
            open.removeAll { $0 == law }
            leave(law, because: reason)
        }
    }

    private mutating func finish() {
        if open.contains(.p9), !declaresKeys {
            open.removeAll { $0 == .p9 }
            leave(.p9, because: "keys(touchedBy:) names no keys")
        }
        report.held = open
        report.counts["histories"] = tried
    }

    // MARK: Histories

    private nonisolated(nonsending) mutating func tryKept() async {
        for (name, history) in kept.histories(P.codec) {
            switch history {
            case .failure(let error): await noteUnreadable(name, error)
            case .success(let history):
                for violation in await violations(of: history) {
                    await note(violation, history, .given)
                }
            }
        }
    }

    /// A history that was written by this projection's codec, in an older shape perhaps, as there may be
    /// events in people's logs.
    private nonisolated(nonsending) mutating func noteUnreadable(
        _ name: String, _ error: any Error
    ) async {
        let statement = "The history kept in \(name) cannot be read any more: \(error)."
        guard open.contains(.p11) else {
            leave(.p11, because: statement)
            return
        }
        await note(
            Violation(.p11, name, statement), Script(.downlink, []), .given)
    }

    private nonisolated(nonsending) mutating func violations(
        of history: Script<P.Event>
    ) async -> [Violation] {
        let judgement = await judge.judgement(
            on: history, open, onDisk: tried % Self.diskShare == 0, processes: 1)
        count(history)
        if let reason = judgement.unavailable, open.contains(.p14) {
            open.removeAll { $0 == .p14 }
            leave(.p14, because: reason)
            leave(.p1, because: "folded in this process only: \(reason)")
        }
        return await cause(of: judgement.violations, in: history)
    }

    /// What is another thing each time breaks any law now and then, and P1 is not sure to show it at once:
    /// before another law is blamed, the history is folded some more times.
    private nonisolated(nonsending) func cause(
        of violations: [Violation], in history: Script<P.Event>
    ) async -> [Violation] {
        // Of what traps or cannot be read nothing more can be said.
        let sure: Set<Law> = [.p1, .p11, .p14]
        guard open.contains(.p1), violations.contains(where: { !sure.contains($0.law) }) else {
            return violations
        }
        for _ in 0..<Self.suspicion {
            let again = await judge.judgement(
                on: history, [.p1], onDisk: false, processes: ChildProcessChecker<P>.processCount)
            if !again.violations.isEmpty { return again.violations }
        }
        return violations
    }

    private mutating func count(_ history: Script<P.Event>) {
        func add(_ name: String, _ count: Int = 1) { report.counts[name, default: 0] += count }
        add("steps", history.steps.count)
        for step in history.steps { add(step.name) }
        declaresKeys =
            declaresKeys || P.hasRowsBeside
            || history.recordedEvents.contains {
                !P.keys(touchedBy: $0, ReferenceLog<P>.context(of: 1)).isEmpty
            }
    }

    // MARK: Fleets

    private nonisolated(nonsending) mutating func tryFleets(
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

    private nonisolated(nonsending) mutating func tryKeptFleets() async {
        for (name, kept) in kept.fleets() where open.contains(.p15) {
            switch kept {
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
        _ violation: Violation, _ recording: RecordedChoices, _ history: Script<P.Event>
    ) async {
        let law = violation.law
        let (generator, judge) = (generator, judge)
        let onDisk = law == .p10
        // Whether a dictionary's order matters shows now and then, and in one of several processes.
        let processes = law == .p1 ? ChildProcessChecker<P>.processCount : 1
        // As seen, for what shows now and then may not show again.
        var seen: [RecordedChoices: (Violation, Script<P.Event>)] = [:]
        let result = await Shrinker(candidatesMax: effort.candidatesMax).shrink(
            recording, failing: Manner(violation)
        ) { choices in
            guard let candidate = try? generator.generate(from: &choices) else { return .discarded }
            let judged = await judge.judgement(
                on: candidate, [law], onDisk: onDisk, processes: processes)
            guard let violation = judged.violations.first else { return .passes }
            seen[choices.recording] = (violation, candidate)
            return .fails(Manner(violation))
        }
        let shrinking: Finding.Shrinking =
            switch result.ending {
            case .minimalForThesePasses: .minimalForThesePasses(candidates: result.candidates)
            case .stoppedByBudget: .stoppedByBudget(candidates: result.candidates)
            }
        let (smallest, small) = seen[result.smallest] ?? (violation, history)
        await note(smallest, small, shrinking)
        for other in result.others {
            guard let (violation, history) = seen[other.recording] else { continue }
            await note(violation, history, .metOnTheWay)
        }
    }

    private nonisolated(nonsending) mutating func note(
        _ violation: Violation, _ history: Script<P.Event>, _ shrinking: Finding.Shrinking
    ) async {
        open.removeAll { $0 == violation.law }
        if violation.law == .p1 {
            abandon(because: "it means nothing for what is another thing each time (P1)")
        } else if violation.law == .p14 {
            abandon(because: "apply traps (P14)")
        } else if violation.law == .p11, violation.manner.hasPrefix("event") {
            abandon(because: "events are read as others than were written (P11)")
        }
        guard found.insert(Manner(violation)).inserted else { return }
        add(await judge.finding(violation, history, shrinking, historiesTried: tried))
    }

    private mutating func add(_ finding: Finding) {
        report.findings.append(finding)
        guard finding.stepCount > 0, !finding.ndjson.isEmpty else { return }
        do { try kept.keep(finding) } catch {
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
