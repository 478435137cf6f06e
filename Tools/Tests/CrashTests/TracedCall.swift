import Foundation
import Processes
import Testing

/// A system call at which tests kill a process.
struct TracedCall: Sendable, CustomTestStringConvertible, CustomStringConvertible {
    let name: String
    /// The names of directories of logs. Only calls on their files count, if there are any.
    private let logs: [String]

    /// Whether it opens or maps files of a log, which each run does.
    var opensLogs: Bool { !logs.isEmpty }

    /// Calls that load no program: all of them count.
    static func each(_ names: String...) -> [TracedCall] {
        names.map { TracedCall(name: $0, logs: []) }
    }

    /// Opening and mapping the files of logs. One thread must do most of that, because each thread is counted
    /// alone.
    static func opening(_ logs: String...) -> [TracedCall] {
        ["openat", "mmap"].map { TracedCall(name: $0, logs: logs) }
    }

    var description: String { logs.isEmpty ? name : "\(name) of \(logs.joined(separator: ", "))" }
    var testDescription: String { description }

    /// The places of the matrix that this run tries. Locks are taken often, and a kill at one changes no file.
    func places(
        upTo countMax: Int, locks: Int = 4, others: Int = 1
    ) -> StrideThrough<Int> {
        let step =
            switch name {
            case "flock": locks
            case "openat": 3
            default: others
            }
        return TestEffort.places(1...countMax, quickStep: step)
    }

    /// Returns a command that kills a process at the nth of these calls.
    func killing(_ nth: Int, in directory: DiskDirectory) -> [String] {
        let files = logs.flatMap { name in
            let log = directory.url.appending(path: name)
            return [log]
                + [
                    "data.mdb", "data.mdb.new", "lock.mdb", "mark", "mark.new", "writer.pid",
                ].map { log.appending(path: $0) }
        }
        return Strace.killing(at: name, nth, on: files.isEmpty ? [] : files + [directory.url])
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only where processes can be traced.
    static var needsStrace: Self {
        .enabled(
            if: Strace.isThere, "strace is not installed, or may not trace: apt-get install strace")
    }
}
