import Foldback
import Foundation
import Synchronization

/// Judges histories in another process of this program: another seed for hashing, and a place that may
/// trap or never come to an end.
///
/// ```
/// this process ─▶ laws, history ─▶ the same program, which judges before its main begins
///              ◀─ states, one line a step; violations ◀─┘
/// ```
/// Processes are started when they are needed first, and take one history after the other.
final class ChildProcessChecker<P: Projection>: Sendable {
    /// How it went.
    enum Result: Sendable {
        /// The states behind each step, and what does not hold.
        case judged([States], [Violation])
        /// The process ended, or did not get on.
        case died(Place, how: String)
        /// There can be no other process here, and why.
        case unavailable(String)
    }

    /// Where a process ended.
    enum Place: Sendable {
        case step(Int)
        case law(Law)
    }

    /// What is asked of the process.
    struct Task: Sendable {
        let laws: [Law]
        let onDisk: Bool
    }

    /// How many processes there can be; each has luck of its own.
    static var processCount: Int { 4 }

    private struct Running {
        var processes: [Int: ChildProcess] = [:]
        /// Where none can be started there is no use in trying again.
        var unavailable: String?
    }

    private let running = Mutex(Running())

    /// Ends a process; whoever judges there next starts another.
    func startAfresh(_ index: Int) { running.withLock { $0.processes[index] = nil } }

    /// - Parameters:
    ///   - index: of the process, from 0 up to ``processCount``.
    ///   - stepMax: how long one step, or one law, may take before it counts as never ending.
    /// - Throws: what the codec throws.
    func judge(
        _ history: Script<P.Event>, _ task: Task, in index: Int, stepMax: Duration
    ) throws -> Result {
        let text = "\(task.line)\n\(try history.ndjson(P.codec, title: "\(P.self)"))"
        return running.withLock { running in
            if let reason = running.unavailable { return .unavailable(reason) }
            do throws(ChildProcess.Unavailable) {
                if running.processes[index] == nil {
                    running.processes[index] = try ChildProcess(folding: P.self)
                }
            } catch {
                running.unavailable = error.reason
                return .unavailable(error.reason)
            }
            guard let process = running.processes[index] else { return .unavailable("it is gone") }
            let seconds = Int32(clamping: max(1, stepMax.components.seconds))
            let result = Self.judge(text, history.steps.count, process, seconds)
            if case .judged = result {} else { running.processes[index] = nil }
            return result
        }
    }

    private static func judge(
        _ text: String, _ count: Int, _ process: ChildProcess, _ secondsMax: Int32
    ) -> Result {
        process.send(text)
        var states: [States] = []
        var violations: [Violation] = []
        var place = Place.step(0)
        while true {
            let line: String
            switch process.answer(secondsMax: secondsMax) {
            case .success(let next): line = next
            case .failure(let end): return .died(place, how: end.how)
            }
            if states.count < count {
                guard let next = try? States(line) else {
                    return .unavailable("another process says \(line)")
                }
                states.append(next)
                place = .step(states.count)
                continue
            }
            switch Word(line) {
            case .checks(let law): place = .law(law)
            case .found(let violation): violations.append(violation)
            case .end: return .judged(states, violations)
            case nil: return .unavailable("another process says \(line)")
            }
        }
    }
}
