import Foldback

/// One run of ``checkLaws(of:events:itemIDs:laws:effort:coverage:seed:failures:file:)``: kept failures, then
/// random scripts, then fleets, until the effort is spent or every law is broken.
struct LawRun<P: Projection> {
    /// The part of the time that is left for fleets. A fleet takes about an eighth of the time of a
    /// script.
    private static var fleetTimeShare: Double { 0.1 }
    /// One script in this many also runs on disk, and at least one does.
    private static var diskShareMax: Int { 16 }
    /// There is one fleet for this many scripts.
    private static var fleetShare: Int { 4 }

    let generator: Generator<Script<P.Event>>
    let events: Generator<P.Event>
    let checker: LawChecker<P>
    let coverage: Coverage<P.Event>
    let effort: Effort
    let corpus: FailureCorpus
    let places: WorkPlaces
    /// One script in this many also runs on disk. All do if only P19 is checked, which needs a disk.
    let diskShare: Int
    /// The laws that are not broken yet.
    var open: [Law]
    var declaresKeys = false
    var hasItems = false
    var found: Set<Manner> = []
    var report: LawReport
    /// Why no other process checks the scripts; nil if one does.
    var unavailable: String?
    /// When the run began, later by the time for shrinking.
    private(set) var start = System.now

    init(
        events: Generator<P.Event>, checker: LawChecker<P>, laws: Set<Law>, effort: Effort,
        coverage: Coverage<P.Event> = Coverage(), seed: UInt64, corpus: FailureCorpus,
        places: WorkPlaces = .ofThisProgram
    ) {
        generator = events.scripts(nil, steps: effort.stepsMax)
        self.events = events
        self.checker = checker
        self.coverage = coverage
        self.effort = effort
        self.corpus = corpus
        self.places = places
        diskShare = laws == [.p19] ? 1 : min(Self.diskShareMax, max(1, effort.scriptsMax))
        open = Law.allCases.filter { laws.contains($0) }
        report = LawReport(projection: "\(P.self)", seed: seed)
    }

    nonisolated(nonsending) mutating func run() async {
        start = System.now
        for law in open {
            guard let unchecked = checker.uncheckable(law) else { continue }
            open.removeAll { $0 == law }
            report.unchecked.append(unchecked)
        }
        if let trouble = corpus.trouble { report.failures.append(trouble) }
        let isAlone = open == [.p15]
        let scriptsMax = effort.scriptsMax == .max ? nil : effort.scriptsMax
        if open.contains(where: { $0 != .p15 }) { report.scripts.asked = scriptsMax }
        if open.contains(.p15) {
            report.fleets.asked = scriptsMax.map { isAlone ? $0 : max(1, $0 / Self.fleetShare) }
        }
        await runKeptScripts()
        let share = open.contains(.p15) ? 1 - Self.fleetTimeShare : 1
        await runScripts(until: effort.durationMax.map { $0 * share })
        // Fleets come last: an `apply` that traps would end this process. By now P14 has found it.
        await runKeptFleets()
        await runFleets(
            isAlone
                ? effort.scriptsMax
                : report.fleets.asked ?? max(1, report.scripts.checked / Self.fleetShare))
        finish()
    }

    /// Whether the run has lasted longer than this, without the time for shrinking.
    func hasLasted(_ duration: Duration?) -> Bool {
        duration.map { System.now - start > $0 } ?? false
    }

    /// Calls a function whose time does not count.
    nonisolated(nonsending) mutating func withoutTime(
        _ body: nonisolated(nonsending) (inout Self) async -> Void
    ) async {
        let begin = System.now
        await body(&self)
        start += System.now - begin
    }

    private mutating func finish() {
        if report.scripts.checked > 0 { noteVacuous() }
        report.held = open
        report.missing = coverage.required.filter {
            report.pairs[$0] == nil && report.labels[$0] == nil
        }
        if report.scripts.asked != nil || report.scripts.checked > 0 {
            report.counts["scripts"] = report.scripts.checked
        }
    }

    /// Notes the laws that hold only because there was nothing to check.
    private mutating func noteVacuous() {
        if open.contains(.p9), !declaresKeys {
            open.removeAll { $0 == .p9 }
            leave(
                .p9, because: "keys(touchedBy:) returns no keys",
                remedy: "Implement it in \(P.self), or leave P9 out of laws")
        }
        if open.contains(.p17), P.othersInMemory.isEmpty {
            open.removeAll { $0 == .p17 }
            leave(
                .p17, because: "no other projection is on the log",
                remedy: "Name it with also, or leave P17 out of laws")
        }
        if open.contains(.p19), report.counts["scripts on disk"] == nil {
            open.removeAll { $0 == .p19 }
            leave(
                .p19, because: "the time was over before a script ran on disk",
                remedy: "Raise the durationMax of the effort, or leave P19 out of laws")
        }
        if open.contains(.p13), !hasItems {
            open.removeAll { $0 == .p13 }
            leave(
                .p13, because: "no state has an item",
                remedy: "Let the generator of events make items, and the ids name them")
        }
    }

    /// Notes that the time is over before the run has checked everything.
    mutating func noteTimeIsOver() {
        guard let limit = effort.durationMax, effort.scriptsMax != .max else { return }
        report.cause =
            "the time of the effort, \(limit), is over. Raise its durationMax, or lower its scriptsMax."
    }

    /// Notes that the generator draws too few values.
    mutating func noteDiscards(_ count: Int, of name: String) {
        report.cause =
            "the generator of events discarded \(count) \(name). Let its filter pass more values."
    }

    mutating func leave(_ law: Law, because reason: String, remedy: String? = nil) {
        report.unchecked.append(
            LawReport.Unchecked(law: law, reason: reason, remedy: remedy))
    }
}

/// The way in which a law is broken; a finding of its own.
struct Manner: Hashable {
    let law: Law
    let manner: String

    /// A nondeterministic fold breaks P1 in another manner each time.
    init(_ violation: Violation) {
        law = violation.law
        manner = violation.law == .p1 ? "" : violation.manner
    }
}
