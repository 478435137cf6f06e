import ArgumentParser
import Foldback
import Foundation

@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-soak",
        abstract: "Lives years of one user on a log that is compacted.",
        subcommands: [Years.self, Opening.self], defaultSubcommand: Years.self)
}

struct Years: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "years", abstract: "Lives years of one user on a log that is compacted.",
        discussion: """
            Each day of virtual time, the app starts, records intents, and sends and fetches in eight \
            rounds. The log is confirmed by a downlink, and is on a real disk. It is opened \
            with .relaxed durability, which saves the flushes. A year has 52 weeks. The log is \
            compacted to 30 days, each week in the first year and then twice in each quarter. \
            It is backed up every fourth week in the first year, and then once in each quarter. An \
            update of the app adds a projection.

            What the log shows is compared with a fold that knows nothing of Foldback. The exit code \
            is 1 if it differs, or if file, memory or opening time are not flat over the last half of \
            the years. The file may grow by 64 bytes for each intent that was ever recorded.

            Example: Tools/soak --years 10
            """)

    @Option(help: "The number of years.")
    var years = 10

    @Option(help: "The number of intents that are recorded each day.")
    var intents = 200

    @Option(help: "The seed of all choices; random by default.")
    var seed: UInt64?

    @Option(help: "The folder that gets a folder for the log; the temporary folder by default.")
    var directory: String?

    @Flag(help: "Print each quarter as a line of JSON, and no table.")
    var json = false

    func validate() throws {
        guard years >= 1 else { throw ValidationError("years must be 1 or more") }
        guard intents >= Life.roundsOfDay else {
            throw ValidationError("intents must be \(Life.roundsOfDay) or more")
        }
    }

    func run() async throws {
        let seed = seed ?? .random(in: 0...UInt64(UInt32.max))
        if !json { print("\(years) years, seed \(seed)") }
        let parent =
            directory.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory
        let folder = parent.appending(
            path: "foldback-soak-\(ProcessInfo.processInfo.processIdentifier)",
            directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            try await live(in: folder, seed: seed)
        } catch let finding as Finding {
            print(finding)
            print("to repeat it: Tools/soak --years \(years) --intents \(intents) --seed \(seed)")
            print("the log: \(folder.path)")
            throw ExitCode(1)
        }
        try FileManager.default.removeItem(at: folder)
    }

    private func live(in folder: URL, seed: UInt64) async throws {
        let start = ContinuousClock.now
        var life = Life(in: folder, intentsOfDay: intents, seed: seed)
        var quarters: [Quarter] = []
        for _ in 0..<years * 4 {
            let quarter = try await life.liveQuarter()
            quarters.append(quarter)
            let line = String(decoding: try JSONEncoder().encode(quarter), as: UTF8.self)
            if json { print(line) } else { Self.note(line) }
        }
        try await life.compareBackup()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if !json { print(quarters.table) }
        guard life.tallies.answeredLate > 0, life.tallies.entriesRemoved > 0 else {
            throw Finding("no intent was answered after ten compactions")
        }
        let growth = quarters.growth
        guard growth.isEmpty else { throw Finding(growth.joined(separator: "\n")) }
        let words = life.tallies.words + ", in \(seconds.short) s"
        if json { Self.note(words) } else { print(words) }
    }

    private static func note(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }
}

extension Tallies {
    /// What has happened, in one sentence.
    var words: String {
        """
        flat: \(recorded) intents and \(otherEvents) events of others in \(pages) pages, \
        \(rejected) rejected, \(withdrawn) withdrawn, \(replaced) replaced, \(retried) retried, \
        \(refused) refused, \(overridden) accepted after a rejection, \(answeredLate) answered \
        after ten compactions; \(compactions) compactions that removed \(entriesRemoved) entries, \
        \(backups) backups, \(comparisons) comparisons, \(statesRead) states of old intents \
        (\(statesOfRemoved) without an entry)
        """
    }
}
