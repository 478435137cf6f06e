import Foldback
import Foundation

/// Checks that a projection keeps the laws, with random scripts. It shrinks a script that breaks a
/// law to a small script that still does.
///
/// ```swift
/// let events = Generator<Likes.Event>.oneOf(
///     .making(Likes.Event.liked, .strings()), .making(Likes.Event.unliked, .strings()))
///
/// @Test func `likes keep the laws`() async throws {
///     try await requireLaws(of: Likes.self, events: events)
/// }
/// ```
/// It needs no test framework: the report is a value. In Swift Testing use
/// ``requireLaws(of:events:itemIDs:laws:effort:coverage:completeness:seed:failures:file:)``, which throws
/// it.
///
/// If the run checks less than it should, it says so on standard error, in a line or two: fewer
/// scripts than `effort` asks for, or a law that cannot be checked. ``LawReport/shortfalls`` has
/// the same lines.
///
/// - Parameters:
///   - projection: the type whose `apply`, codecs and keys are checked.
///   - events: generates the events. Events that often touch the same few things find more.
///   - itemIDs: the ids of the items that a view lists, for ``Law/p13``.
///   - laws: the laws to check. A law that is left out does not count as missing.
///   - effort: how much is tried.
///   - coverage: what the scripts must reach, and the labels of the report.
///   - seed: repeats the scripts of an earlier report; nil for new scripts.
///   - failures: where failing scripts are kept. They run first the next time.
///   - file: the file of the test, beside which they are kept.
/// - Complexity: see ``Effort/standard``, and more to shrink a failure. Other processes of the same
///   program, up to one for each core, check the scripts; they end with the call. Calls at the same
///   time wait for each other: no more processes work than the machine has cores.
public nonisolated(nonsending) func checkLaws<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, itemIDs: ItemIDs<P>? = nil,
    laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport {
    let seed = seed ?? System.freshSeed()
    let report = await WorkPlaces.ofThisProgram.holding {
        var run = LawRun<P>(
            events: events, checker: LawChecker(itemIDs: itemIDs, stepMax: effort.stepMax),
            laws: laws, effort: effort, coverage: coverage, seed: seed,
            corpus: FailureCorpus(failures, besides: file, P.name))
        await run.run()
        return run.report
    }
    for line in report.shortfalls { Screen.show("laws of \(report.projection): \(line)") }
    return report
}

/// Checks that a projection keeps the laws, and throws the report if one is broken.
///
/// ```swift
/// try await requireLaws(of: Likes.self, events: events, completeness: .required)
/// ```
/// A run that checks less than it should says so. With `completeness: .required` it also fails.
///
/// - Throws: ``LawsBroken``, whose description is the report.
@discardableResult
public nonisolated(nonsending) func requireLaws<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, itemIDs: ItemIDs<P>? = nil,
    laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), completeness: Completeness = .told,
    seed: UInt64? = nil, failures: Failures = .besideTests,
    file: String = #filePath
) async throws(LawsBroken) -> LawReport {
    let report = await checkLaws(
        of: projection, events: events, itemIDs: itemIDs, laws: laws, effort: effort,
        coverage: coverage, seed: seed, failures: failures, file: file)
    guard report.isClean, report.missing.isEmpty,
        report.isComplete || completeness == .told
    else {
        throw LawsBroken(report: report)
    }
    return report
}

/// Checks one law with one script. The test in a report calls it. For ``Law/p15`` use
/// ``requireFleet(_:of:events:)``.
///
/// - Throws: ``LawsBroken``, also if the law cannot be checked: P13 without `itemIDs`, P3 without a
///   state codec, P14 without another process. P1 without another process is checked in this
///   process only, and a line on standard error says so.
public nonisolated(nonsending) func requireLaw<P: Projection>(
    _ law: Law, of projection: P.Type, for script: Script<P.Event>, itemIDs: ItemIDs<P>? = nil
) async throws(LawsBroken) {
    let report = await WorkPlaces.ofThisProgram.holding {
        await lawReport(
            law, script, LawChecker<P>(itemIDs: itemIDs, stepMax: Effort.standard.stepMax))
    }
    guard report.isClean, report.unchecked.allSatisfy({ $0.law != law || law == .p1 }) else {
        throw LawsBroken(report: report)
    }
    for line in report.shortfalls { Screen.show("laws of \(report.projection): \(line)") }
}

private nonisolated(nonsending) func lawReport<P: Projection>(
    _ law: Law, _ script: Script<P.Event>, _ checker: LawChecker<P>
) async -> LawReport {
    let check = await checker.check(
        script, [law], onDisk: true, processes: 0..<ChildProcessChecker<P>.processCount)
    var report = LawReport(projection: "\(P.self)", seed: 0)
    report.counts = ["scripts": 1, "steps": script.steps.count]
    for violation in check.violations {
        report.findings.append(
            await checker.finding(violation, script, .given, scriptsTried: 1))
    }
    if let unchecked = checker.uncheckable(law) { report.unchecked.append(unchecked) }
    if let reason = check.unavailable { report.noteUnavailable(reason, for: [law]) }
    if law == .p15 {
        report.unchecked.append(
            LawReport.Unchecked(
                law: law, reason: "a script cannot break it", remedy: "Call requireFleet"))
    }
    return report
}

/// Checks ``Law/p15`` for one fleet. The test in a report calls it.
///
/// - Parameters:
///   - fleet: the fleet of the report.
///   - projection: the projection of the report.
///   - events: the same generator as then; the recorded choices mean something else to another
///     generator.
/// - Throws: ``LawsBroken``, also if the generator draws no fleet from the recorded choices.
public nonisolated(nonsending) func requireFleet<P: Projection>(
    _ fleet: RecordedFleet, of projection: P.Type, events: Generator<P.Event>
) async throws(LawsBroken) {
    let simulation = Simulation(
        of: projection, events: events, replicas: fleet.replicas, stepsMax: fleet.stepsMax)
    let run = await simulation.run(choices: fleet.choices)
    var report = LawReport(projection: "\(P.self)", seed: 0)
    report.counts = ["fleets": 1, "fleet operations": run.operations]
    if let finding = await simulation.finding(in: run, candidatesMax: 0) {
        report.findings = [finding]
    }
    if !run.isComplete {
        report.unchecked = [
            LawReport.Unchecked(
                law: .p15, reason: "the generator of events discards the choices of this fleet",
                remedy: "Restore the generator that drew it, or delete the test")
        ]
    }
    guard report.isClean, report.isComplete else { throw LawsBroken(report: report) }
}
