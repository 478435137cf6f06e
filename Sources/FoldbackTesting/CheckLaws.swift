import Foldback
import Foundation

/// Checks that a projection keeps the laws, by histories made at random; what breaks one is shrunk to
/// the smallest history that still does.
///
/// ```swift
/// let events = Generator<Likes.Event>.oneOf(
///     .making(Likes.Event.liked, .strings()), .making(Likes.Event.unliked, .strings()))
///
/// @Test func `likes keep the laws`() async throws {
///     try await requireLaws(of: Likes.self, events: events)
/// }
/// ```
/// Needs no test framework: the report is a value. In Swift Testing use
/// ``requireLaws(of:events:itemIDs:laws:effort:seed:failures:file:)``, which throws it.
///
/// - Parameters:
///   - projection: whose `apply`, codecs and keys are tried.
///   - events: makes the events of the histories. Those that touch few things, often the same, find more.
///   - itemIDs: of the things that a view lists, for ``Law/p13``.
///   - laws: which; all of them take no longer than one, but for finding.
///   - effort: how long.
///   - seed: makes the same histories again; nil: others each time.
///   - failures: where failing histories are kept; they are tried first the next time.
///   - file: of the test, beside which they are kept.
/// - Complexity: about 25 ms a history in a debug build, and more where a failure is shrunk. Histories
///   are folded by another process of the same program as well; it ends with the call.
public nonisolated(nonsending) func checkLaws<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, itemIDs: ItemIDs<P>? = nil,
    laws: Set<Law> = Set(Law.allCases), effort: Effort = .standard, seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport {
    var campaign = LawRun<P>(
        events: events, judge: LawChecker(itemIDs: itemIDs, stepMax: effort.stepMax), laws: laws,
        effort: effort, seed: seed ?? System.freshSeed(),
        kept: FailureCorpus(failures, besides: file, P.name))
    await campaign.run()
    return campaign.report
}

/// The same, throwing what it finds.
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

/// Checks one law for one history: what a report's test to paste calls. Of ``Law/p15`` a history says
/// nothing: ``requireFleet(_:of:events:)``.
///
/// - Throws: ``LawsBroken``, also where nothing can be said: P13 without `itemIDs`, P3 without a state codec.
public nonisolated(nonsending) func requireLaw<P: Projection>(
    _ law: Law, of projection: P.Type, for history: Script<P.Event>, itemIDs: ItemIDs<P>? = nil
) async throws(LawsBroken) {
    let judge = LawChecker<P>(itemIDs: itemIDs, stepMax: Effort.standard.stepMax)
    let judged = await judge.judgement(
        on: history, [law], onDisk: true, processes: ChildProcessChecker<P>.processCount)
    var report = LawReport(
        projection: "\(P.self)", seed: 0, held: [], findings: [], unchecked: [],
        counts: ["histories": 1, "steps": history.steps.count])
    for violation in judged.violations {
        report.findings.append(
            await judge.finding(violation, history, .given, historiesTried: 1))
    }
    var reason = judge.uncheckable(law)
    if law == .p14 { reason = judged.unavailable }
    if law == .p15 { reason = "a history says nothing of it; see requireFleet" }
    if let reason {
        report.unchecked.append(LawReport.Unchecked(law: law, reason: reason))
    }
    guard report.isClean, report.unchecked.isEmpty else { throw LawsBroken(report: report) }
}

/// Checks ``Law/p15`` for one fleet: what a report's test to paste calls.
///
/// - Parameters:
///   - fleet: as it was found.
///   - projection: whose fleet it was.
///   - events: as when it was found, for what was drawn means something to this generator alone.
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

/// How much is tried.
public struct Effort: Hashable, Sendable {
    /// Histories; none are made behind that, and a quarter as many fleets.
    public var historiesMax: Int
    /// Time for making and trying histories, without that for shrinking what fails; nil: no matter.
    public var durationMax: Duration?
    /// Steps of a history.
    public var stepsMax: Int
    /// Candidates that are tried to shrink one failure.
    public var candidatesMax: Int
    /// How long one step of a history may take before it counts as never ending (P14); whole seconds.
    public var stepMax: Duration

    public init(
        historiesMax: Int, durationMax: Duration?, stepsMax: Int, candidatesMax: Int,
        stepMax: Duration
    ) {
        self.historiesMax = historiesMax
        self.durationMax = durationMax
        self.stepsMax = stepsMax
        self.candidatesMax = candidatesMax
        self.stepMax = stepMax
    }

    /// 200 histories of up to 24 steps, none begun behind 5 seconds; 3,000 candidates; 5 seconds a step.
    public static let standard = Effort(
        historiesMax: 200, durationMax: .seconds(5), stepsMax: 24, candidatesMax: 3_000,
        stepMax: .seconds(5))

    /// As many histories as fit in a time.
    public static func lasting(_ duration: Duration) -> Effort {
        Effort(
            historiesMax: .max, durationMax: duration, stepsMax: 24, candidatesMax: 3_000,
            stepMax: .seconds(5))
    }
}

/// Where failing histories are kept.
public enum Failures: Hashable, Sendable {
    /// In a folder `FoldbackFailures` beside the test's file: to be committed with it.
    case besideTests
    case folder(URL)
    case forgotten
}
