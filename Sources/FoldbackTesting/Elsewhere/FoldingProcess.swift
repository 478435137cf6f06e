import Foldback
import Foundation

/// What happens in the other process: before the program's own main it looks whether it was started to
/// fold, folds what comes in by standard input, which is a socket, and ends with it.
enum FoldingProcess {
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
                guard fold(text, projection) else { exit(4) }
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

    /// One line behind each step, so that the last one tells where it ended.
    private static func fold<P: Projection>(_ text: String, _: P.Type) -> Bool {
        guard let history = try? History<P.Event>(ndjson: text, P.codec) else { return false }
        var refold = Refold<P>(history.kind)
        var numbers = Numbers()
        for step in history.steps {
            let outcome = numbers.asked(by: step).map { refold.carryOut($0) }
            if step.isRecording { numbers.append(outcome) }
            say(Elsewhere<P>.States.line(of: refold.now))
        }
        return true
    }

    #if os(Linux)
        /// Called by the loader before main, once everything that the program needs is there.
        @used @section(".init_array")
        fileprivate static let beforeMain: @convention(c) () -> Void = { FoldingProcess.begin() }

        /// The address of something that is in the program, wherever it is loaded.
        static var anchor: UInt {
            UInt(bitPattern: unsafeBitCast(beforeMain, to: UnsafeRawPointer.self))
        }
    #else
        static var anchor: UInt { 0 }
    #endif
}
