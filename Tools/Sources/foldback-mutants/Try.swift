import ArgumentParser
import Foldback
import FoldbackTesting

/// Looks for one mutant with the law that names it.
struct Try: AsyncParsableCommand {
    @Argument(help: "Which, from 0 up.") var index: Int
    @Option(help: "Seconds.") var seconds = 30.0
    @Option(help: "Makes the same histories again.") var seed: UInt64?

    func run() async throws {
        let mutant = mutants[index]
        let report = await report(on: mutant)
        print(report)
        if let finding = report.findings.first(where: { $0.law == mutant.law }) {
            print("found \(finding.historiesTried) \(finding.stepCount)")
        }
    }

    private nonisolated(nonsending) func report(on mutant: Mutant) async -> LawReport {
        switch (mutant.fault, mutant.subject) {
        case (.projection, _): await report(onProjection: mutant)
        case (.source, .sloppy): await shelf(Sloppy.self, mutant.law)
        case (.source, .right): await shelf(RightShelf.self, mutant.law)
        }
    }

    private nonisolated(nonsending) func report(onProjection mutant: Mutant) async -> LawReport {
        let law = mutant.law
        switch mutant.name {
        case "reads the clock": return await shelf(ReadsClock.self, law)
        case "keeps hidden state": return await shelf(HiddenState.self, law)
        case "makes random ids": return await shelf(RandomIDs.self, law)
        case "depends on the order of a dictionary": return await shelf(DictionaryOrder.self, law)
        case "changes and then throws": return await shelf(ChangesThenThrows.self, law)
        case "applies half of all": return await shelf(HalfOfAll.self, law)
        case "traps": return await shelf(Traps.self, law)
        case "never ends": return await shelf(NeverEnds.self, law)
        case "numbers its items": return await shelf(NumbersItems.self, law)
        case "names too few keys": return await shelf(NamesTooFewKeys.self, law)
        case "its codec loses a field": return await shelf(LosesField.self, law)
        case "its state codec loses a field": return await shelf(StateLosesField.self, law)
        case "its state cannot be read again": return await shelf(StateCannotBeRead.self, law)
        default: preconditionFailure("\(mutant.name) has no projection")
        }
    }

    private nonisolated(nonsending) func shelf<P: Shelved>(
        _ projection: P.Type, _ law: Law
    ) async -> LawReport {
        await checkLaws(
            of: projection, events: Deed.generator, itemIDs: P.itemIDs, laws: [law],
            effort: .lasting(.seconds(seconds)), seed: seed, failures: .forgotten)
    }
}
