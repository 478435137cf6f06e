import Foundation

/// Commands of strace(1) that record system calls, make a call fail, or kill a process at a call.
/// LeakSanitizer does not work under strace, so it is switched off.
package enum Strace {
    /// Whether strace is installed and may trace. Some containers forbid that.
    package static var isThere: Bool {
        (try? run(["strace", "-o", "/dev/null", "true"]).isSuccess) ?? false
    }

    /// Returns a command that kills a process at the nth of these calls.
    ///
    /// Strace counts the calls of each thread alone, so the first thread with n calls decides.
    ///
    /// - Parameter files: only calls on these count, if there are any. They need not exist. A program is
    ///   loaded by hundreds of `openat` and `mmap`, and without files no thread gets past that number first.
    package static func killing(at call: String, _ nth: Int, on files: [URL] = []) -> [String] {
        ["strace", "-f", "-qq", "-o", "/dev/null", "-E", "LSAN_OPTIONS=detect_leaks=0"]
            + files.flatMap { ["-P", $0.path] }
            + ["-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(nth)"]
    }

    /// Returns a command that makes the nth of these calls on one of the files fail.
    package static func failing(
        _ call: String, _ nth: Int, with error: String, on files: [String], to trace: URL
    ) -> [String] {
        ["strace", "-f", "-qq", "-o", trace.path, "-E", "LSAN_OPTIONS=detect_leaks=0"]
            + files.flatMap { ["-P", $0] }
            + ["-e", "inject=\(call):error=\(error):when=\(nth)"]
    }

    /// Returns a command that makes the nth of these calls return after `milliseconds`.
    ///
    /// - Parameter files: only calls on these count, if there are any.
    package static func delaying(
        _ call: String, _ nth: Int, milliseconds: Int, on files: [URL] = []
    ) -> [String] {
        ["strace", "-f", "-qq", "-o", "/dev/null", "-E", "LSAN_OPTIONS=detect_leaks=0"]
            + files.flatMap { ["-P", $0.path] }
            + [
                "-e", "trace=\(call)", "-e",
                "inject=\(call):delay_exit=\(milliseconds * 1_000):when=\(nth)",
            ]
    }

    /// Returns a command that records these calls in a file.
    package static func tracing(_ calls: String, to file: URL) -> [String] {
        [
            "strace", "-f", "-qq", "-o", file.path, "-E", "LSAN_OPTIONS=detect_leaks=0", "-e",
            "trace=\(calls)",
        ]
    }
}
