import Foldback
import Foundation

/// Checks that a projection keeps the laws, with random scripts. It shrinks a script that breaks a law to a
/// small script that still does.
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
/// ``requireLaws(of:events:itemIDs:laws:effort:seed:failures:file:)``, which throws it.
///
/// - Parameters:
///   - projection: the type whose `apply`, codecs and keys are checked.
///   - events: generates the events. Events that often touch the same few things find more.
///   - itemIDs: the ids of the items that a view lists, for ``Law/p13``.
///   - laws: the laws to check. All of them take about as long as one, if none is broken.
///   - effort: how much is tried.
///   - seed: repeats the scripts of an earlier report; nil for new scripts.
///   - failures: where failing scripts are kept. They run first the next time.
///   - file: the file of the test, beside which they are kept.
/// - Complexity: about 25 ms a script in a debug build, and more to shrink a failure. Another process of the
///   same program folds the scripts as well; it ends with the call.
public nonisolated(nonsending) func checkLaws<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, itemIDs: ItemIDs<P>? = nil,
    laws: Set<Law> = Set(Law.allCases), effort: Effort = .standard, seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport {
    var run = LawRun<P>(
        events: events, checker: LawChecker(itemIDs: itemIDs, stepMax: effort.stepMax), laws: laws,
        effort: effort, seed: seed ?? System.freshSeed(),
        corpus: FailureCorpus(failures, besides: file, P.name))
    await run.run()
    return run.report
}

/// Checks that a projection keeps the laws, and throws the report if one is broken.
///
/// - Throws: ``LawsBroken``, whose description is the report.
@discardableResult
public nonisolated(nonsending) func requireLaws<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, itemIDs: ItemIDs<P>? = nil,
    laws: Set<Law> = Set(Law.allCases), effort: Effort = .standard, seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async throws(LawsBroken) -> LawReport {
    let report = await checkLaws(
        of: projection, events: events, itemIDs: itemIDs, laws: laws, effort: effort, seed: seed,
        failures: failures, file: file)
    guard report.isClean else { throw LawsBroken(report: report) }
    return report
}

/// Checks one law with one script. The test in a report calls it. For ``Law/p15`` use
/// ``requireFleet(_:of:events:)``.
///
/// - Throws: ``LawsBroken``, also if the law cannot be checked: P13 without `itemIDs`, P3 without a state
///   codec.
public nonisolated(nonsending) func requireLaw<P: Projection>(
    _ law: Law, of projection: P.Type, for script: Script<P.Event>, itemIDs: ItemIDs<P>? = nil
) async throws(LawsBroken) {
    let checker = LawChecker<P>(itemIDs: itemIDs, stepMax: Effort.standard.stepMax)
    let check = await checker.check(
        script, [law], onDisk: true, processes: ChildProcessChecker<P>.processCount)
    var report = LawReport(
        projection: "\(P.self)", seed: 0, held: [], findings: [], unchecked: [],
        counts: ["scripts": 1, "steps": script.steps.count])
    for violation in check.violations {
        report.findings.append(
            await checker.finding(violation, script, .given, scriptsTried: 1))
    }
    var reason = checker.uncheckable(law)
    if law == .p14 { reason = check.unavailable }
    if law == .p15 { reason = "a script cannot break it; see requireFleet" }
    if let reason {
        report.unchecked.append(LawReport.Unchecked(law: law, reason: reason))
    }
    guard report.isClean, report.unchecked.isEmpty else { throw LawsBroken(report: report) }
}

/// Checks ``Law/p15`` for one fleet. The test in a report calls it.
///
/// - Parameters:
///   - fleet: the fleet of the report.
///   - projection: the projection of the report.
///   - events: the same generator as then; the recorded choices mean something else to another generator.
/// - Throws: ``LawsBroken``.
public nonisolated(nonsending) func requireFleet<P: Projection>(
    _ fleet: RecordedFleet, of projection: P.Type, events: Generator<P.Event>
) async throws(LawsBroken) {
    let simulation = Simulation(
        of: projection, events: events, replicas: fleet.replicas, stepsMax: fleet.stepsMax)
    let run = await simulation.run(choices: fleet.choices)
    guard let finding = await simulation.finding(in: run, candidatesMax: 0) else { return }
    throw LawsBroken(
        report: LawReport(
            projection: "\(P.self)", seed: 0, held: [], findings: [finding], unchecked: [],
            counts: ["fleets": 1, "fleet operations": run.operations]))
}
