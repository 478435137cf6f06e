import ArgumentParser

@main
struct Mutants: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-mutants",
        abstract: "Puts deliberate faults into the code, and checks that the laws find them.",
        discussion: """
            Tools/mutants copies the sources, puts every fault into the copy, each with a switch, \
            builds the copy once, and runs it once for each fault. The exit code is 1 if a fault is \
            not found.
            """,
        subcommands: [Prepare.self, Run.self, RunMutant.self])
}
