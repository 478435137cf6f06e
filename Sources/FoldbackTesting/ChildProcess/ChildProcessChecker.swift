import Foldback
import Foundation
import Synchronization

/// Checks scripts in another process of this program. That process has another hash seed, and it
/// may trap or never return.
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
        case died(End, how: String)
        /// Why no other process can be started.
        case unavailable(String)
    }

    /// Where a process ended.
    enum End: Sendable {
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

    /// A process that takes one script after the other.
    private final class Place: Sendable {
        let process = Mutex<ChildProcess?>(nil)
    }

    private let places = (0..<processCount).map { _ in Place() }
    /// Why no process can be started; it is not tried again.
    private let unavailable = Mutex<String?>(nil)

    /// Ends a process. The next check starts a new one.
    func restart(_ index: Int) { places[index].process.withLock { $0 = nil } }

    /// Checks a script, on a thread of its own because it waits for the other process.
    ///
    /// - Parameters:
    ///   - index: of the process, from 0 up to ``processCount``.
    ///   - stepMax: how long one step, or one law, may take before it counts as never ending.
    /// - Throws: the error of the codec.
    nonisolated(nonsending) func check(
        _ script: Script<P.Event>, _ task: Task, in index: Int, stepMax: Duration
    ) async throws -> Result {
        let text = "\(task.line)\n\(try script.ndjson(P.codec, title: "\(P.self)"))"
        let stepCount = script.steps.count
        let seconds = Int32(clamping: max(1, stepMax.components.seconds))
        return await System.onThread { self.check(text, stepCount, in: index, seconds) }
    }

    private func check(
        _ text: String, _ stepCount: Int, in index: Int, _ secondsMax: Int32
    ) -> Result {
        places[index].process.withLock { process in
            if let reason = unavailable.withLock({ $0 }) { return .unavailable(reason) }
            do throws(ChildProcess.Unavailable) {
                if process == nil { process = try ChildProcess(folding: P.self) }
            } catch {
                unavailable.withLock { $0 = error.reason }
                return .unavailable(error.reason)
            }
            guard let running = process else { return .unavailable("it has ended") }
            let result = Self.check(text, stepCount, running, secondsMax)
            if case .checked = result {} else { process = nil }
            return result
        }
    }

    private static func check(
        _ text: String, _ count: Int, _ process: ChildProcess, _ secondsMax: Int32
    ) -> Result {
        process.send(text)
        var states: [States] = []
        var violations: [Violation] = []
        var place = End.step(0)
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
