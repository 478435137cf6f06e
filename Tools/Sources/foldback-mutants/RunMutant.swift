import ArgumentParser
import Foldback
import FoldbackTesting

/// Looks for one mutant with the law that names it.
struct RunMutant: AsyncParsableCommand {
    @Argument(help: "Which, from 0 up; -1: none, and every law has to hold.") var index: Int
    @Option(help: "Seconds.") var seconds = 120.0
    @Option(help: "Makes the same histories again.") var seed: UInt64?

    func run() async throws {
        guard index >= 0 else { return await tryNone() }
        let mutant = mutants[index]
        let report = await report(on: mutant)
        print(report)
        if let finding = report.findings.first(where: { $0.law == mutant.law }) {
            print("found \(finding.scriptsTried) \(finding.stepCount)")
        }
    }

    private nonisolated(nonsending) func tryNone() async {
        let all = Set(Law.allCases)
        for report in [
            await shelf(RightShelf.self, all), await shelf(Sloppy.self, all.subtracting([.f9])),
            await shelfOfRows(all),
        ] {
            print(report)
            guard let finding = report.findings.first else { continue }
            print("found \(finding.scriptsTried) \(finding.stepCount)")
        }
    }

    private nonisolated(nonsending) func report(on mutant: Mutant) async -> LawReport {
        switch (mutant.fault, mutant.subject) {
        case (.projection, _): await report(onProjection: mutant)
        case (.source, .sloppy): await shelf(Sloppy.self, [mutant.law])
        case (.source, .right): await shelf(RightShelf.self, [mutant.law])
        case (.source, .rows): await shelfOfRows([mutant.law])
        }
    }

    private nonisolated(nonsending) func report(onProjection mutant: Mutant) async -> LawReport {
        // With those that are looked at first, and end the search.
        let laws: Set<Law> = [mutant.law, .p1, .p11, .p14]
        switch mutant.name {
        case "reads the clock": return await shelf(ReadsClock.self, laws)
        case "keeps hidden state": return await shelf(HiddenState.self, laws)
        case "makes random ids": return await shelf(RandomIDs.self, laws)
        case "depends on the order of a dictionary": return await shelf(DictionaryOrder.self, laws)
        case "changes and then throws": return await shelf(ChangesThenThrows.self, laws)
        case "applies half of all": return await shelf(HalfOfAll.self, laws)
        case "traps": return await shelf(Traps.self, laws)
        case "never ends": return await shelf(NeverEnds.self, laws)
        case "numbers its items": return await shelf(NumbersItems.self, laws)
        case "names too few keys": return await shelf(NamesTooFewKeys.self, laws)
        case "its codec loses a field": return await shelf(LosesField.self, laws)
        case "its state codec loses a field": return await shelf(StateLosesField.self, laws)
        case "its state cannot be read again": return await shelf(StateCannotBeRead.self, laws)
        default: preconditionFailure("\(mutant.name) has no projection")
        }
    }

    /// A step of a second counts as one that never ends, where something is broken: else a busy machine would be.
    private var effort: Effort {
        var effort = Effort.lasting(.seconds(seconds))
        // With several laws the search goes on behind the first finding.
        if index < 0 || mutants[index].fault.isProjection { effort.scriptsMax = 250 }
        effort.stepMax = .seconds(index < 0 ? 60 : 1)
        return effort
    }

    private nonisolated(nonsending) func shelf<P: Shelved>(
        _ projection: P.Type, _ laws: Set<Law>
    ) async -> LawReport {
        await checkLaws(
            of: projection, events: Deed.generator, itemIDs: P.itemIDs, laws: laws,
            effort: effort, seed: seed, failures: .forgotten)
    }

    private nonisolated(nonsending) func shelfOfRows(_ laws: Set<Law>) async -> LawReport {
        var effort = effort
        // A store beside, and a fold of the past: a history takes four times as long.
        if index < 0 { effort.scriptsMax = 80 }
        return await checkLaws(
            of: RowShelf.self, events: Deed.generator, rowIDs: ItemIDs(keysOf: RowShelf.items),
            laws: laws, effort: effort, seed: seed, failures: .forgotten)
    }
}
