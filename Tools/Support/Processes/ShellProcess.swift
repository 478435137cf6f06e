import Foldback
import Foundation

/// A real `foldback shell` in its own process.
package final class ShellProcess: Sendable {
    package let process: RunningProcess

    /// - Parameter wrapper: the start of a command that runs the shell, such as strace.
    package init(
        _ log: String, _ options: [String] = [], under wrapper: [String] = []
    ) throws {
        process = try RunningProcess(
            wrapper + [executable("foldback"), "shell", log] + options, input: .pipe)
    }

    package func send(_ lines: String...) { for line in lines { process.send(line) } }

    /// Returns the next answer; nil if the process has ended.
    package func answer() -> JSON? { process.nextJSON() }

    /// Kills the process, and returns when it has ended.
    package func kill() {
        process.signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the input, and waits for the process to end.
    @discardableResult package func finish() -> ProcessEnd {
        process.closeInput()
        return process.waitForEnd()
    }
}
