import Foldback
import Synchronization

/// What is noted while a fleet runs: what happened, how often, and what should not have.
final class FleetNotes: Sendable {
    struct Content: Sendable {
        /// Virtual time, who, what. Empty unless asked for.
        var trace: [String] = []
        var fired: [SimulatedFault: Int] = [:]
        /// What users did, requests, and answers that arrived.
        var operations = 0
        var settledCount = 0
        /// The first.
        var violation: Violation?
    }

    private let time: VirtualTime
    private let isTracing: Bool
    private let noted = Mutex(Content())

    init(_ time: VirtualTime, isTracing: Bool) {
        self.time = time
        self.isTracing = isTracing
    }

    var content: Content { noted.withLock { $0 } }

    var isBroken: Bool { noted.withLock { $0.violation != nil } }

    func count() { noted.withLock { $0.operations += 1 } }

    func countSettled(_ count: Int) { noted.withLock { $0.settledCount += count } }

    func fired(_ fault: SimulatedFault) { noted.withLock { $0.fired[fault, default: 0] += 1 } }

    func trace(_ who: String, _ what: @autoclosure () -> String) {
        guard isTracing else { return }
        let line = "\(time.passed.inSeconds)  \(who)  \(what())"
        noted.withLock { $0.trace.append(line) }
    }

    /// - Parameter manner: tells ways of breaking apart; the same in a smaller script.
    func broke(
        _ manner: String, _ statement: String, comparing comparison: Violation.Comparison? = nil
    ) {
        noted.withLock { content in
            guard content.violation == nil else { return }
            content.violation = Violation(.p15, manner, statement, comparing: comparison)
        }
    }
}
