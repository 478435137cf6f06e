import Foldback
import Foundation
import Synchronization

/// Checks scripts in another process of this program. That process has another hash seed, and it may trap or
/// never return.
///
/// ```
/// this process ─▶ laws, script ─▶ the same program, which checks before its main begins
///              ◀─ states, one line for each step; violations ◀─┘
/// ```
/// A process is started when it is first needed, and takes one script after the other.
final class ChildProcessChecker<P: Projection>: Sendable {
    /// The result of a check.
    enum Result: Sendable {
        /// The states after each step, and the violations.
        case checked([States], [Violation])
        /// The process ended, or took too long.
        case died(Place, how: String)
        /// Why no other process can be started.
        case unavailable(String)
    }

    /// Where a process ended.
    enum Place: Sendable {
        case step(Int)
        case law(Law)
    }

    /// The task of the process.
    struct Task: Sendable {
        let laws: [Law]
        let onDisk: Bool
    }

    /// How many processes there are at most; each has its own hash seed.
    static var processCount: Int { 4 }

    private struct Running {
        var processes: [Int: ChildProcess] = [:]
        /// Why no process can be started; it is not tried again.
        var unavailable: String?
    }

    private let running = Mutex(Running())

    /// Ends a process. The next check starts a new one.
    func restart(_ index: Int) { running.withLock { $0.processes[index] = nil } }

    /// - Parameters:
    ///   - index: of the process, from 0 up to ``processCount``.
    ///   - stepMax: how long one step, or one law, may take before it counts as never ending.
    /// - Throws: the error of the codec.
    func check(
        _ script: Script<P.Event>, _ task: Task, in index: Int, stepMax: Duration
    ) throws -> Result {
        let text = "\(task.line)\n\(try script.ndjson(P.codec, title: "\(P.self)"))"
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
            guard let process = running.processes[index] else {
                return .unavailable("it has ended")
            }
            let seconds = Int32(clamping: max(1, stepMax.components.seconds))
            let result = Self.check(text, script.steps.count, process, seconds)
            if case .checked = result {} else { running.processes[index] = nil }
            return result
        }
    }

    private static func check(
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
                    return .unavailable("another process sent \(line)")
                }
                states.append(next)
                place = .step(states.count)
                continue
            }
            switch Message(line) {
            case .checks(let law): place = .law(law)
            case .found(let violation): violations.append(violation)
            case .end: return .checked(states, violations)
            case nil: return .unavailable("another process sent \(line)")
            }
        }
    }
}
