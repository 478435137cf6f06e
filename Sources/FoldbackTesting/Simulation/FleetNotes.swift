import Foldback
import Synchronization

/// Notes of a running fleet: its trace, its counts, and the first violation.
final class FleetNotes: Sendable {
    struct Content: Sendable {
        /// Virtual time, actor, action. Empty unless tracing was requested.
        var trace: [String] = []
        var fired: [SimulatedFault: Int] = [:]
        /// The number of actions of users, requests, and arrived answers.
        var operations = 0
        var settledCount = 0
        /// The first violation.
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

    func trace(_ actor: String, _ action: @autoclosure () -> String) {
        guard isTracing else { return }
        let line = "\(time.passed.inSeconds)  \(actor)  \(action())"
        noted.withLock { $0.trace.append(line) }
    }

    /// Notes a violation of P15, if it is the first.
    ///
    /// - Parameter manner: the way in which the law is broken; a smaller script breaks it in the
    ///   same way.
    func broke(
        _ manner: String, _ statement: String, comparing comparison: Violation.Comparison? = nil
    ) {
        noted.withLock { content in
            guard content.violation == nil else { return }
            content.violation = Violation(.p15, manner, statement, comparing: comparison)
        }
    }
}
