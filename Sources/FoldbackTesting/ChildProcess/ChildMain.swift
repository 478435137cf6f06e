import Foldback
import Foundation
import Synchronization

/// The main function of the child process. It runs before the program's own main: if the process
/// was started as a child, it checks the scripts that come in by standard input, which is a socket,
/// and exits at its end.
///
/// Globals that the program's main.swift sets have no values yet.
enum ChildMain {
    /// The environment variable that names the projection.
    static let variable = "FOLDBACK_FOLD"
    /// The first line of the answer.
    static let ready = "ready"

    fileprivate static func begin() {
        guard let type = ProcessInfo.processInfo.environment[variable] else { return }
        guard let projection = ProgramType.found(by: type) as? any Projection.Type else { exit(3) }
        send(ready)
        var text = ""
        while let line = readLine(strippingNewline: false) {
            if line == "\n" {
                guard check(text, projection) else { exit(4) }
                text = ""
            } else {
                text += line
            }
        }
        exit(0)
    }

    private static func send(_ line: String) {
        FileHandle.standardInput.write(Data("\(line)\n".utf8))
    }

    private static func check<P: Projection>(_ text: String, _: P.Type) -> Bool {
        let parts = text.split(separator: "\n", maxSplits: 1)
        guard parts.count == 2, let task = ChildProcessChecker<P>.Task(String(parts[0])),
            let script = try? Script<P.Event>(ndjson: String(parts[1]), P.codec)
        else { return false }
        // One line after each step and before each law, so the last line shows where the process
        // ended.
        Trial<P>.modelSteps(of: script) { send(ChildProcessChecker<P>.States.line(of: $0.state)) }
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await Trial<P>.check(script, task.laws, onDisk: task.onDisk) { law in
                send(ChildProcessChecker<P>.Message.checks(law).line)
            } found: { violation in
                send(ChildProcessChecker<P>.Message.found(violation).line)
            }
            isDone.signal()
        }
        isDone.wait()
        send(ChildProcessChecker<P>.Message.end.line)
        return true
    }

    #if os(Linux)
        /// The loader calls it before main, after it has loaded every library of the program.
        @used @section(".init_array")
        fileprivate static let beforeMain: @convention(c) () -> Void = { ChildMain.begin() }

        /// An address in the program, wherever the program is loaded.
        static var anchor: UInt {
            UInt(bitPattern: unsafeBitCast(beforeMain, to: UnsafeRawPointer.self))
        }
    #else
        static var anchor: UInt { 0 }
    #endif
}
