import Foldback
import Foundation
import Synchronization

/// Folds histories in another process of this program: another seed for hashing, and a place that may
/// trap or never come to an end.
///
/// ```
/// this process ─▶ a history ─▶ the same program, which folds before its main begins
///              ◀─ states, one line a step ◀─┘
/// ```
/// The other process is started when it is needed first, and takes one history after the other.
final class Elsewhere<P: Projection>: Sendable {
    /// How it went.
    enum Result: Sendable {
        /// The states behind each step.
        case folded([States])
        /// The process ended, or did not get on, within that step.
        case died(step: Int, how: String)
        /// There can be no other process here, and why.
        case unavailable(String)
    }

    /// What a step led to, as text and as bytes of the state codec.
    struct States: Sendable {
        let view: StateText
        let confirmed: StateText
        let viewBytes: [UInt8]?
        let confirmedBytes: [UInt8]?

        /// Which of the two is another than here, and how it looks there.
        func difference(
            from here: Refold<P>.State
        ) -> (name: String, here: P, there: StateText)? {
            if !Self.isSame(here.view, view, viewBytes) { return ("the view", here.view, view) }
            if !Self.isSame(here.confirmed, confirmed, confirmedBytes) {
                return ("confirmed state", here.confirmed, confirmed)
            }
            return nil
        }

        private static func isSame(_ here: P, _ there: StateText, _ bytes: [UInt8]?) -> Bool {
            if StateText(here) == there { return true }
            // Equal for the app's own ==, though some property differs.
            guard here is any Equatable, let bytes, let codec = P.stateCodec else { return false }
            guard let read = try? codec.decode(bytes.span.bytes) else { return false }
            return P.areSame(here, read)
        }
    }

    /// How many processes there can be; each has luck of its own.
    static var processCount: Int { 4 }

    private let running = Mutex<[Int: OtherProcess]>([:])

    /// Ends a process; whoever folds there next starts another.
    func startAfresh(_ index: Int) { running.withLock { $0[index] = nil } }

    /// - Parameters:
    ///   - index: of the process, from 0 up to ``processCount``.
    ///   - stepSecondsMax: how long one step may take before it counts as never ending.
    /// - Throws: what the codec throws.
    func fold(
        _ history: History<P.Event>, in index: Int, stepSecondsMax: Int32
    ) throws -> Result {
        let text = try history.ndjson(P.codec, title: "\(P.self)")
        return running.withLock { running in
            do throws(OtherProcess.Unavailable) {
                if running[index] == nil { running[index] = try OtherProcess(folding: P.self) }
            } catch {
                return .unavailable(error.reason)
            }
            guard let process = running[index] else { return .unavailable("it is not there") }
            let result = Self.fold(text, history.steps.count, process, stepSecondsMax)
            if case .folded = result {} else { running[index] = nil }
            return result
        }
    }

    private static func fold(
        _ text: String, _ count: Int, _ process: OtherProcess, _ stepSecondsMax: Int32
    ) -> Result {
        process.send(text)
        var states: [States] = []
        while states.count < count {
            switch process.answer(secondsMax: stepSecondsMax) {
            case .success(let line):
                guard let next = try? States(line) else {
                    return .unavailable("another process says \(line)")
                }
                states.append(next)
            case .failure(let end): return .died(step: states.count, how: end.how)
            }
        }
        return .folded(states)
    }
}

extension Elsewhere.States {
    /// From a line of ``line(of:)``.
    fileprivate init(_ line: String) throws {
        let json = try JSON(parsing: line)
        func text(_ name: ExactString) -> StateText {
            StateText(parsing: json[name]?.stringValue ?? "")
        }
        func bytes(_ name: ExactString) -> [UInt8]? {
            json[name]?.stringValue.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
        }
        view = text("view")
        confirmed = text("confirmed")
        viewBytes = bytes("viewBytes")
        confirmedBytes = bytes("confirmedBytes")
    }

    static func line(of state: Refold<P>.State) -> String {
        func bytes(_ state: P) -> JSON? {
            guard state is any Equatable, let codec = P.stateCodec else { return nil }
            return (try? codec.encode(state)).map { .string(Data($0).base64EncodedString()) }
        }
        var object: JSON.Object = [
            "view": .string(StateText(state.view).text),
            "confirmed": .string(StateText(state.confirmed).text),
        ]
        object["viewBytes"] = bytes(state.view)
        object["confirmedBytes"] = bytes(state.confirmed)
        return "\(JSON.object(object))"
    }
}
