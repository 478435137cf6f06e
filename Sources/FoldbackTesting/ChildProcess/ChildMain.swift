import Foldback
import Foundation
import Synchronization

/// What happens in the other process: before the program's own main it looks whether it was started to
/// judge histories, does so for those that come in by standard input, which is a socket, and ends with
/// it.
///
/// Globals that a program's main.swift sets at its top have not been set by then.
enum ChildMain {
    /// The environment variable that says which projection.
    static let variable = "FOLDBACK_FOLD"
    /// The first line of answer.
    static let ready = "ready"

    fileprivate static func begin() {
        guard let type = ProcessInfo.processInfo.environment[variable] else { return }
        guard let projection = ProgramType.found(by: type) as? any Projection.Type else { exit(3) }
        say(ready)
        var text = ""
        while let line = readLine(strippingNewline: false) {
            if line == "\n" {
                guard judge(text, projection) else { exit(4) }
                text = ""
            } else {
                text += line
            }
        }
        exit(0)
    }

    private static func say(_ line: String) {
        FileHandle.standardInput.write(Data("\(line)\n".utf8))
    }

    private static func judge<P: Projection>(_ text: String, _: P.Type) -> Bool {
        let parts = text.split(separator: "\n", maxSplits: 1)
        guard parts.count == 2, let task = ChildProcessChecker<P>.Task(String(parts[0])),
            let history = try? Script<P.Event>(ndjson: String(parts[1]), P.codec)
        else { return false }
        // A line behind each step, and before each law, so that the last one tells where it ended.
        Trial<P>.refolded(history) { say(ChildProcessChecker<P>.States.line(of: $0.state)) }
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await LawChecker<P>(itemIDs: nil, stepMax: .zero).judge(
                history, task.laws, onDisk: task.onDisk
            ) { law in
                say(ChildProcessChecker<P>.Word.checks(law).line)
            } found: { violation in
                say(ChildProcessChecker<P>.Word.found(violation).line)
            }
            isDone.signal()
        }
        isDone.wait()
        say(ChildProcessChecker<P>.Word.end.line)
        return true
    }

    #if os(Linux)
        /// Called by the loader before main, once everything that the program needs is there.
        @used @section(".init_array")
        fileprivate static let beforeMain: @convention(c) () -> Void = { ChildMain.begin() }

        /// The address of something that is in the program, wherever it is loaded.
        static var anchor: UInt {
            UInt(bitPattern: unsafeBitCast(beforeMain, to: UnsafeRawPointer.self))
        }
    #else
        static var anchor: UInt { 0 }
    #endif
}
