import Foundation

/// The progress of a recording process.
///
/// The process reports it to its parent on standard output, as lines of numbers. The last whole
/// line counts, also after a SIGKILL.
struct Progress {
    private(set) var recorded: Int
    private(set) var nanoseconds: UInt64 = 0
    private(set) var latencies = Histogram()
    /// The process's highest resident memory so far.
    private(set) var peakMemoryBytes = 0
    private let start: ContinuousClock.Instant?
    /// The number of intents between two reports: a hundredth of the session. Reports by time would
    /// come too late in a short session.
    private let step: Int
    private var dueAt = 0

    init(recorded: Int, total: Int, start: ContinuousClock.Instant) {
        self.recorded = recorded
        self.start = start
        step = max(1, total / 100)
    }

    mutating func note(_ latency: Duration) {
        recorded += 1
        latencies.add(microseconds: latency / .microseconds(1))
    }

    var isDue: Bool { recorded >= dueAt }

    mutating func report(at now: ContinuousClock.Instant) {
        dueAt = recorded + step
        let elapsed = start.map { UInt64(max(0, (now - $0) / .nanoseconds(1))) } ?? 0
        let line = "\(recorded) \(elapsed) \(Self.peakMemory()) \(latencies.text)\n"
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }

    /// Reads a report; nil if the line is incomplete.
    init?(line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count == 4, let recorded = Int(fields[0]), let elapsed = UInt64(fields[1]),
            let peak = Int(fields[2]), let latencies = Histogram(text: fields[3])
        else { return nil }
        self.recorded = recorded
        peakMemoryBytes = peak
        nanoseconds = elapsed
        self.latencies = latencies
        start = nil
        step = 1
    }
}

extension Progress {
    /// The peak memory of this process in bytes.
    ///
    /// On Linux it comes from /proc, because getrusage(2) there also counts the parent's memory at
    /// the fork.
    private static func peakMemory() -> Int {
        #if os(Linux)
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}

/// Latencies in buckets, each 5 percent wide.
struct Histogram {
    private static let step = 1.05
    private var counts: [Int: Int] = [:]

    init() {}

    mutating func add(microseconds: Double) {
        counts[Int(log(max(1, microseconds)) / log(Self.step)), default: 0] += 1
    }

    mutating func add(_ other: Histogram) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The latency that `percentile` percent of all latencies do not exceed; nil if there are none.
    func microseconds(percentile: Double) -> Double? {
        let total = counts.values.reduce(0, +)
        var remaining = Int((Double(total) * percentile / 100).rounded(.up))
        for (bucket, count) in counts.sorted(by: { $0.key < $1.key }) {
            remaining -= count
            if remaining <= 0 { return pow(Self.step, Double(bucket) + 0.5) }
        }
        return nil
    }

    var text: String {
        counts.isEmpty ? "-" : counts.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    init?(text: Substring) {
        guard text != "-" else { return }
        for pair in text.split(separator: ",") {
            let fields = pair.split(separator: ":")
            guard fields.count == 2, let bucket = Int(fields[0]), let count = Int(fields[1]) else {
                return nil
            }
            counts[bucket] = count
        }
    }
}
