import ArgumentParser
import Foldback
import FoldbackTesting
import Foundation

/// Looks for one mutant with the law or the probe that it names.
struct RunMutant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Looks for one mutant with the law that it names.")

    @Argument(
        help: "The mutant's index, from 0 up. With -1 no mutant is active, and every law must hold."
    )
    var index: Int
    @Option(help: "Seconds for the search.") var seconds = 120.0
    @Option(help: "A seed that makes the same histories again.") var seed: UInt64?

    func run() async throws {
        // A fault may keep this process from ending. The signal ends it.
        alarm(UInt32(4 * seconds) + 60)
        if case .probe(let probe)? = mutant?.judge {
            if try await probe.findsFault() { print("found 1 1") }
            return
        }
        for report in await reports() {
            print(report)
            guard let finding = report.findings.first(where: { isWanted($0.law) }) else { continue }
            print("found \(finding.scriptsTried) \(finding.stepCount)")
        }
        guard mutant == nil else { return }
        for probe in Probe.allCases where try await probe.findsFault() {
            print("the probe \"\(probe.rawValue)\" finds a fault")
            print("found 1 1")
        }
    }

    private var mutant: Mutant? { index < 0 ? nil : mutants[index] }

    private func isWanted(_ law: Law) -> Bool { mutant.map { $0.judge == .law(law) } ?? true }

    private nonisolated(nonsending) func reports() async -> [LawReport] {
        guard let mutant, case .law(let law) = mutant.judge else {
            let all = Set<Law>.standard
            return [
                await report(on: CorrectProjection.self, all),
                await report(on: ChangesFirst.self, all.subtracting([.f9])),
                await reportOnRows(all),
                await report(sharingWith: CorrectRows.self, all),
            ]
        }
        switch mutant.fault {
        case .source(_, _, .value): return [await report(on: CorrectProjection.self, [law])]
        case .source(_, _, .changesFirst):
            return [await report(on: ChangesFirst.self, [law])]
        case .source(_, _, .rows): return [await reportOnRows([law])]
        case .source(_, _, .sharing): return [await report(sharingWith: CorrectRows.self, [law])]
        case .source(_, _, .sharingValues):
            return [await report(sharingWith: RowsInMemory<CorrectRows>.self, [law])]
        case .projection(let projection):
            // These laws are checked first, and a finding of theirs ends the search.
            return [await report(on: projection, [law, .p1, .p11, .p14])]
        case .beside(let projection): return [await report(sharingWith: projection, [law])]
        }
    }

    private nonisolated(nonsending) func report<P: TestProjection>(
        on projection: P.Type, _ laws: Set<Law>
    ) async -> LawReport {
        await checkLaws(
            of: projection, events: TestEvent.generator, itemIDs: P.itemIDs, laws: laws,
            effort: effort, seed: seed, failures: .forgotten)
    }

    private nonisolated(nonsending) func report<Other: EventFold>(
        sharingWith other: Other.Type, _ laws: Set<Law>
    ) async -> LawReport where Other.Event == TestEvent {
        await checkLaws(
            of: StrictProjection.self, also: other, events: TestEvent.generator,
            itemIDs: StrictProjection.itemIDs, laws: laws, effort: effort, seed: seed,
            failures: .forgotten)
    }

    private nonisolated(nonsending) func reportOnRows(_ laws: Set<Law>) async -> LawReport {
        var effort = effort
        // A history takes four times as long: the check compares with a second store and folds the
        // past.
        if mutant == nil { effort.scriptsMax = 80 }
        return await checkLaws(
            of: CorrectRows.self, events: TestEvent.generator,
            rowIDs: ItemIDs(keysOf: CorrectRows.items), laws: laws, effort: effort, seed: seed,
            failures: .forgotten)
    }

    private var effort: Effort {
        var effort = Effort.lasting(.seconds(seconds))
        // With several laws the search continues after the first finding.
        if mutant?.isProjection ?? true { effort.scriptsMax = 250 }
        // A step of one second counts as endless. Without a fault, a busy machine must not count as
        // a finding.
        effort.stepMax = .seconds(mutant == nil ? 60 : 1)
        return effort
    }
}
