import Foundation

/// Starts recording processes one after the other until the session is recorded, and kills some of
/// them.
enum RecordingProcess {
    /// - Parameter killsAt: The numbers of durable intents at which a process gets a SIGKILL.
    static func runAll(log: URL, edits: URL, total: Int, killsAt: [Int]) throws -> Tally {
        var tally = Tally()
        var kills = killsAt[...]
        var bar = ProgressBar(total: total)
        while true {
            // A short session could end before the signal. So typing stops a little later and waits
            // for it.
            let options = kills.first.map { ["--hold-at", "\($0 + total / 20)"] } ?? []
            let (last, wasKilled) = try run(
                ["record", log.path, edits.path] + options, killAt: kills.first, &bar)
            tally.add(last)
            guard wasKilled else { break }
            kills = kills.dropFirst()
            tally.kills += 1
            bar.note(
                "killed the recording process at \(last?.recorded ?? 0) intents; starting it again")
        }
        bar.finish()
        guard tally.kills == killsAt.count else {
            throw DemoFailure(
                description: "FAILED: a recording process ended before it was killed")
        }
        return tally
    }

    private static func run(
        _ arguments: [String], killAt: Int?, _ bar: inout ProgressBar
    ) throws -> (last: Progress?, wasKilled: Bool) {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var last: Progress?
        var rest = Data()
        var wasKilled = false
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            rest.append(data)
            let text = String(decoding: rest, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines.dropLast() { last = Progress(line: line) ?? last }
            rest = Data((lines.last ?? "").utf8)
            guard let recorded = last?.recorded else { continue }
            bar.show(recorded)
            if let killAt, recorded >= killAt, !wasKilled {
                wasKilled = true
                kill(process.processIdentifier, SIGKILL)
            }
        }
        process.waitUntilExit()
        guard wasKilled || process.terminationStatus == 0 else {
            throw DemoFailure(
                description:
                    "FAILED: the recording process ended with exit code \(process.terminationStatus)"
            )
        }
        return (last, wasKilled && process.terminationReason == .uncaughtSignal)
    }
}

/// A progress bar on a terminal, or a line for each tenth if the output is not a terminal.
struct ProgressBar {
    private let total: Int
    private let isTerminal = isatty(1) == 1
    private var tenths = 0

    init(total: Int) { self.total = total }

    mutating func show(_ done: Int) {
        let share = Double(done) / Double(max(1, total))
        if isTerminal {
            let filled = Int(share * 40)
            let bar =
                String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
            write("\r[\(bar)] \(Int(share * 100))%  \(done)")
        } else if Int(share * 10) > tenths {
            tenths = Int(share * 10)
            write("\(tenths * 10)%  \(done) intents durable\n")
        }
    }

    func note(_ text: String) { write(isTerminal ? "\r\u{1B}[K\(text)\n" : "\(text)\n") }

    func finish() { if isTerminal { write("\n") } }
}

/// Prints at once and ignores errors.
///
/// `print` would buffer lines if the output is not a terminal, and other writes would come before
/// them. If the output is closed, the demo continues, because its checks still count.
func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}

/// The measurements of the demo.
struct Tally {
    var kills = 0
    var reopen = Duration.zero
    var entries = 0
    var bytes = 0
    private var peakMemoryBytes = 0
    private var recordingNanoseconds: UInt64 = 0
    private var latencies = Histogram()

    mutating func add(_ progress: Progress?) {
        guard let progress else { return }
        recordingNanoseconds += progress.nanoseconds
        latencies.add(progress.latencies)
        peakMemoryBytes = max(peakMemoryBytes, progress.peakMemoryBytes)
    }

    func printTable(intents: Int) {
        let seconds = Double(recordingNanoseconds) / 1e9
        func latency(_ percentile: Double) -> String {
            latencies.microseconds(percentile: percentile).map { "\(Int($0)) \u{B5}s" } ?? "-"
        }
        let rows = [
            ("intents", "\(intents)"),
            ("killed and resumed", "\(kills) times"),
            ("recording, acknowledging, folding", String(format: "%.2f s", seconds)),
            ("durable intents per second", "\(Int(Double(intents) / max(seconds, 1e-9)))"),
            ("record latency p50", latency(50)),
            ("record latency p99", latency(99)),
            ("entries", "\(entries)"),
            (
                "bytes per entry on disk",
                String(format: "%.1f", Double(bytes) / Double(max(1, entries)))
            ),
            ("time to reopen", String(format: "%.3f s", reopen / .seconds(1))),
            (
                "peak memory of the recorder",
                String(format: "%.1f MiB", Double(peakMemoryBytes) / 1_048_576)
            ),
        ]
        for (name, value) in rows {
            write(name.padding(toLength: 36, withPad: " ", startingAt: 0) + value + "\n")
        }
        write(
            "\n(up to \(Record.inFlightMax) intents in flight; latency from queueing until durable)\n"
        )
    }
}
