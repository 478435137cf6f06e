import ArgumentParser
import Foundation
import Processes
import Synchronization

/// Looks for each mutant in a process of its own.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks for all mutants, and prints the mutants that no law finds.")

    @Option(help: "Only mutants whose name contains this text, or whose law or probe it is.")
    var only = ""
    @Option(help: "Only one part of the mutants, such as 2/3 for the second of three parts.")
    var part = Part.whole
    @Option(help: "The longest search for one mutant, in seconds.") var seconds = 120.0
    @Option(help: "The copy's test bundle, for mutants that a test must find.") var tests: String
    @Option(help: "The most steps that a shrunk history may have.") var stepsMax = 6

    func run() throws {
        let selected = mutants.enumerated().filter { index, mutant in
            part.contains(index)
                && (only.isEmpty || mutant.name.contains(only) || mutant.judge.text == only)
        }
        let indices = (only.isEmpty ? [Self.noFault] : []) + selected.map(\.offset)
        print("mutant | rule | law, probe or test | histories | steps | seconds")
        // Each search keeps one core busy, and borrows free cores.
        let survivors = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: indices.count) { place in
            let index = indices[place]
            do {
                guard try survives(index) else { return }
            } catch {
                print("\(Self.name(of: index)): the search failed: \(error)")
            }
            survivors.withLock { $0.append(index) }
        }
        let names = survivors.withLock { $0.sorted() }.map(Self.name)
        print("\(selected.count) mutants, \(names.count) survived")
        for name in names { print("survived: \(name)") }
        if !names.isEmpty { throw ExitCode(1) }
    }

    /// The index with which no mutant is active.
    private static let noFault = -1

    private static func name(of index: Int) -> String {
        index == noFault ? "no fault" : mutants[index].name
    }

    /// Searches and prints the result.
    private func survives(_ index: Int) throws -> Bool {
        let start = Date()
        var result = try search(index)
        guard index != Self.noFault else {
            guard result != nil else { return false }
            print("a law fails without a fault: run foldback-mutants try -- -1")
            return true
        }
        // Shrinking ends at a local minimum, which is sometimes large.
        for _ in 0..<2 where isSurvivor(result) { result = try search(index) }
        let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
        let mutant = mutants[index]
        let found = result.map { "\($0.histories) | \($0.steps)" } ?? "not found |"
        print(
            "\(mutant.name) | \(mutant.rule) | \(mutant.judge.text) | \(found) | \(seconds)")
        return isSurvivor(result)
    }

    private func isSurvivor(_ result: SearchResult?) -> Bool {
        result.map { $0.steps > stepsMax } ?? true
    }

    private typealias SearchResult = (histories: Int, steps: Int)

    /// Nil if nothing found the fault.
    private func search(_ index: Int) throws -> SearchResult? {
        if index != Self.noFault, case .test(let name) = mutants[index].judge {
            return try passes(name, index) ? nil : (1, 1)
        }
        let end = try Processes.run(
            [CommandLine.arguments[0], "try", "--seconds", "\(seconds)", "--", "\(index)"],
            environment: [Prepare.variable: "\(index)"], errors: .inherited)
        if index == Self.noFault, end.status != 0 {
            throw ValidationError("the search ended with exit code \(end.status)")
        }
        let words = end.output.split(separator: "\n").last { $0.hasPrefix("found ") }?
            .split(separator: " ")
        guard let words, let histories = Int(words[1]), let steps = Int(words[2]) else {
            return nil
        }
        return (histories, steps)
    }

    /// Runs a test with an active mutant, and returns whether it passes. A test that does not end
    /// in time does not pass.
    private func passes(_ test: String, _ index: Int) throws -> Bool {
        let filter = NSRegularExpression.escapedPattern(for: test)
        let end = try Processes.run(
            [tests, "--testing-library", "swift-testing", "--filter", filter],
            environment: [Prepare.variable: "\(index)"], errors: .output, secondsMax: seconds)
        // A test that crashes or does not end prints no last line.
        let isOther = end.output.contains("Test run with ")
        guard !isOther || end.output.contains("Test run with 1 test ") else {
            throw ValidationError("no single test has the name \"\(test)\"")
        }
        return end.isSuccess
    }
}
