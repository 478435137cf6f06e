import ArgumentParser
import Foundation
import Synchronization

@main
struct Mutants: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-mutants",
        abstract: "Breaks the code on purpose, and sees whether the laws find it.",
        discussion: """
            Tools/mutants copies the sources, puts every fault into the copy, each behind a switch, builds it
            once and runs this with one switch on after the other. Exit code 1 where one survives.
            """,
        subcommands: [Prepare.self, Run.self, RunMutant.self])
}

/// Puts the faults into a copy of the sources.
struct Prepare: ParsableCommand {
    static let variable = "FOLDBACK_MUTANT"

    @Argument(help: "The folder Sources of the copy.") var sources: String

    func run() throws {
        let root = URL(filePath: sources, directoryHint: .isDirectory)
        var texts: [String: String] = [:]
        for (index, mutant) in mutants.enumerated() {
            guard case .source(let file, let original, let mutated) = mutant.fault else { continue }
            let text =
                try texts[file] ?? String(contentsOf: root.appending(path: file), encoding: .utf8)
            let parts = text.components(separatedBy: original)
            guard parts.count == 2 else {
                throw ValidationError(
                    "\(mutant.name): its place is \(parts.count - 1) times in \(file), not once; "
                        + "look at Mutants.swift")
            }
            let isActive = "(ActiveMutant.index == \(index))"
            texts[file] = parts.joined(
                separator: mutated.replacingOccurrences(of: "MUTANT", with: isActive))
        }
        for (file, text) in texts {
            try text.write(to: root.appending(path: file), atomically: true, encoding: .utf8)
        }
        let switchFile = """
            import Foundation

            package enum ActiveMutant {
                package static let index =
                    ProcessInfo.processInfo.environment["\(Self.variable)"].flatMap(Int.init) ?? -1
            }

            """
        try switchFile.write(
            to: root.appending(path: "Foldback/ActiveMutant.swift"), atomically: true,
            encoding: .utf8)
    }
}

/// Tries all of them, each in a process of its own.
struct Run: ParsableCommand {
    @Option(help: "Only those whose names contain this, or that this law is to find.") var only = ""
    @Option(help: "Seconds for each at most; some take a thousand histories.") var seconds = 120.0
    @Option(help: "Steps that a shrunk history may have.") var stepsMax = 6

    func run() throws {
        let wanted = mutants.enumerated().filter { _, mutant in
            only.isEmpty || mutant.name.contains(only) || mutant.law.rawValue == only
        }
        let indices = (only.isEmpty ? [Self.noFault] : []) + wanted.map(\.offset)
        print("mutant | rule | law | histories | steps | seconds")
        // A history goes to and fro between two processes that wait for each other: one core each.
        let survivors = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: indices.count) { place in
            let index = indices[place]
            do {
                guard try survives(index) else { return }
            } catch {
                print("\(Self.name(of: index)) could not be tried: \(error)")
            }
            survivors.withLock { $0.append(index) }
        }
        let names = survivors.withLock { $0.sorted() }.map(Self.name)
        print("\(wanted.count) mutants, \(names.count) survived")
        for name in names { print("survived: \(name)") }
        if !names.isEmpty { throw ExitCode(1) }
    }

    /// The number of what is not broken.
    private static let noFault = -1

    private static func name(of index: Int) -> String {
        index == noFault ? "no fault at all" : mutants[index].name
    }

    /// Prints a line of what came of it.
    private func survives(_ index: Int) throws -> Bool {
        let start = Date()
        var result = try tried(index)
        guard index != Self.noFault else {
            guard result != nil else { return false }
            print("a law does not hold where nothing is broken: see foldback-mutants try -- -1")
            return true
        }
        // Shrinking ends at a local minimum, and now and then that is not a small one.
        for _ in 0..<2 where result.map({ $0.steps > stepsMax }) ?? true {
            result = try tried(index)
        }
        let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
        let mutant = mutants[index]
        let found = result.map { "\($0.histories) | \($0.steps)" } ?? "not found |"
        print(
            "\(mutant.name) | \(mutant.rule) | \(mutant.law.rawValue) | \(found) | \(seconds)")
        return result.map { $0.steps > stepsMax } ?? true
    }

    private func tried(_ index: Int) throws -> (histories: Int, steps: Int)? {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["try", "--seconds", "\(seconds)", "--", "\(index)"]
        process.environment = ProcessInfo.processInfo.environment
            .merging([Prepare.variable: "\(index)"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // Whatever a fault does, this comes to an end.
        let limit = Date(timeIntervalSinceNow: 4 * seconds + 60)
        DispatchQueue.global().async {
            while process.isRunning, Date() < limit { usleep(100_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if index == Self.noFault, process.terminationStatus != 0 {
            throw ValidationError("the search ended with \(process.terminationStatus)")
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .last { $0.hasPrefix("found ") }?.split(separator: " ")
        guard let words, let histories = Int(words[1]), let steps = Int(words[2]) else {
            return nil
        }
        return (histories, steps)
    }
}
