import FoldbackTesting
import Foundation

/// The sums over all fleets.
struct Totals: Sendable {
    var elapsed = Duration.zero
    private(set) var runs = 0
    private var operations = 0
    private var decided = 0
    private var lasted = Duration.zero
    /// Runs with at least one replica on disk.
    private var runsOnDisk = 0
    private var fired: [SimulatedFault: Int] = [:]

    mutating func add(_ run: SimulationRun) {
        runs += 1
        operations += run.operations
        decided += run.decidedCount
        lasted += run.lasted
        if run.onDiskCount > 0 { runsOnDisk += 1 }
        fired.merge(run.fired, uniquingKeysWith: +)
    }

    private var operationsPerSecond: Int {
        Int(Double(operations) / max(elapsed / .seconds(1), 0.001))
    }

    var line: String {
        "\(runs) fleets, \(operations) operations, \(operationsPerSecond) per second"
    }

    var text: String {
        var lines = [
            "fleets: \(runs), \(runsOnDisk) of them with replicas on disk",
            "operations: \(operations) in \(Int(elapsed / .seconds(1))) s, \(operationsPerSecond) per second",
            "decided intents: \(decided)",
            "virtual time: \(Int(lasted / .seconds(3_600))) hours", "simulated faults:",
        ]
        for fault in SimulatedFault.allCases {
            lines.append("  \(fired[fault].map(String.init) ?? "never")  \(fault.rawValue)")
        }
        return lines.joined(separator: "\n")
    }
}
