import ArgumentParser
import FaultyNetwork
import Foldback
import FoldbackHTTP
import FoldbackSync
import FoldbackTesting
import Foundation
import Processes

/// A server and two devices, all killed at random, and what is left of their work.
struct Story: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts a server and two devices, kills them at random, and compares their logs.",
        discussion: "Exit code 1: something was lost or decided twice.")

    @Option(help: "The folder of all data. It must not exist.")
    var directory: String

    @Option(help: "The number of kills.")
    var kills = 60

    @Option(help: "The seed of the kills.")
    var seed: UInt64 = .random(in: 1...UInt64.max)

    @Flag(help: "Kills the server alone.")
    var serverOnly = false

    @Flag(
        help: "Puts a proxy before the server that loses, delays, repeats, and cuts after any byte."
    )
    var network = false

    @Option(
        help: """
            The milliseconds of a drain: the devices sync only in drains, as apps in the background do, and are \
            killed at the end of one.
            """)
    var drain: Int?

    func run() async throws {
        let directory = URL(filePath: directory, directoryHint: .isDirectory)
        guard !FileManager.default.fileExists(atPath: directory.path) else {
            throw ValidationError("\(directory.path) exists")
        }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var random = SplitMix64(seed: seed)
        let server = try ServerProcess(in: directory)
        let proxy = network ? try FaultyProxy(to: server.address.port ?? 0, seed: seed) : nil
        let devices = try ["ann", "bob"].map {
            try DeviceProcess(
                $0, in: directory, server: proxy?.address ?? server.address,
                token: server.token($0), drain: drain)
        }
        print("seed \(seed)\nserver \(server.address), devices ann and bob")
        let start = ContinuousClock.now
        var counts = [0, 0, 0]
        var (answers, afterAnswer, duringDrain) = (0, 0, 0)
        for _ in 0..<kills {
            try await Task.sleep(for: .milliseconds(Int.random(in: 30...250, using: &random)))
            let victim = serverOnly ? 0 : Int.random(in: 0...devices.count, using: &random)
            counts[victim] += 1
            if victim == 0 {
                var known = devices.map(\.answerCount).reduce(0, +)
                // A server that is killed while it starts shows little.
                for _ in 0..<100 where serverOnly && known == answers {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 1...50, using: &random)))
                    known = devices.map(\.answerCount).reduce(0, +)
                }
                if known > answers { afterAnswer += 1 }
                answers = known
                try server.restart()
            } else {
                let device = devices[victim - 1]
                if let drain { try await waitForEnd(ofDrain: drain, device, &random) }
                if try device.restart() { duringDrain += 1 }
            }
        }
        print("\(afterAnswer) kills of the server came after it had answered an intent")
        if drain != nil {
            let timedOut = devices.map(\.ledger.timedOutCount).reduce(0, +)
            print("\(timedOut) drains ended by their time, and \(duringDrain) by a kill")
        }
        if let proxy {
            let counts = proxy.counts
            print("\(counts.connections) connections, \(counts.cuts) of them cut")
            proxy.heal()
        }
        for device in devices { try await onThread { try device.finish() } }
        let crashes = devices.map(\.crashCount).reduce(0, +)
        if crashes > 0 {
            print("devices that ended by themselves, and were started again: \(crashes)")
        }
        let errors = try devices.flatMap { try $0.unknownErrors }
        guard errors.isEmpty else { throw StoryError(errors.joined(separator: "\n")) }
        var documents: [JSON] = []
        for device in devices { documents.append(try await device.documents()) }
        let time = start.duration(to: .now)
        let effects = try await server.effects()
        let end = server.end()
        try report(Tally(devices.map(\.ledger), documents, effects), counts, time, end)
    }

    /// Waits until a drain of the device has just ended, or is about to end.
    private func waitForEnd(
        ofDrain milliseconds: Int, _ device: DeviceProcess, _ random: inout SplitMix64
    ) async throws {
        let count = device.drainCount
        for _ in 0..<1_000 where device.drainCount == count {
            try await Task.sleep(for: .milliseconds(5))
        }
        let time = Int.random(in: milliseconds - 20...milliseconds + 20, using: &random)
        try await Task.sleep(for: .milliseconds(time))
    }

    private func report(
        _ tally: Tally, _ kills: [Int], _ time: Duration, _ end: Int32
    ) throws {
        print(
            """
            \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))), \
            \(kills.reduce(0, +)) kills: server \(kills[0]), ann \(kills[1]), bob \(kills[2])
            \(tally.recorded) intents recorded, \(tally.accepted) answers received, \
            \(tally.effects) effects on the server
            lost \(tally.lost), decided twice \(tally.twice), moved \(tally.moved)
            """)
        guard tally.isClean, end == 0 else {
            print("the logs differ, or the server did not stop well: \(end)")
            throw ExitCode(1)
        }
        print("both devices and the server have the same documents: \(tally.documents)")
    }
}

/// What became of the intents.
private struct Tally {
    let recorded: Int
    let accepted: Int
    let effects: Int
    /// Recorded intents without an effect.
    let lost: Int
    /// Effects beyond the first one of an intent.
    let twice: Int
    /// Answers whose position is not that of the effect.
    let moved: Int
    let documents: JSON
    let isClean: Bool

    init(_ ledgers: [Ledger], _ documents: [JSON], _ effects: [IntentID: [Position]]) {
        let recorded = ledgers.reduce(into: Set<IntentID>()) { $0.formUnion($1.recorded) }
        let accepted = ledgers.flatMap(\.accepted)
        self.recorded = recorded.count
        self.accepted = accepted.count
        self.effects = effects.values.map(\.count).reduce(0, +)
        lost = recorded.count { effects[$0] == nil }
        twice = self.effects - effects.count
        moved = accepted.count { id, position in effects[id] != [position] }
        self.documents = documents[0]
        // The documents count the intents besides the one that made them, so nothing may be folded twice.
        let counts = documents[0].objectValue?.members.map { $0.value["count"]?.integerValue ?? 0 }
        let counted = (counts ?? []).reduce(Int64(counts?.count ?? 0), +)
        isClean =
            lost == 0 && twice == 0 && moved == 0 && Set(documents).count == 1
            && counted == self.effects
    }
}
