import Foundation

/// strace(1), to hit or to see exact system calls. LeakSanitizer, where there is one, does not work under
/// it.
enum Strace {
    /// And may trace, which not every container lets it.
    static var isThere: Bool {
        (try? run(["strace", "-o", "/dev/null", "true"]).status == 0) ?? false
    }

    static func killing(at call: String, _ nth: Int) -> [String] {
        [
            "strace", "-f", "-qq", "-o", "/dev/null", "-E", "LSAN_OPTIONS=detect_leaks=0", "-e",
            "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(nth)",
        ]
    }

    /// Fails the nth of these calls that concern one of the files.
    static func failing(
        _ call: String, _ nth: Int, with error: String, on files: [String], to trace: URL
    ) -> [String] {
        ["strace", "-f", "-qq", "-o", trace.path, "-E", "LSAN_OPTIONS=detect_leaks=0"]
            + files.flatMap { ["-P", $0] }
            + ["-e", "inject=\(call):error=\(error):when=\(nth)"]
    }

    static func tracing(_ calls: String, to file: URL) -> [String] {
        [
            "strace", "-f", "-qq", "-o", file.path, "-E", "LSAN_OPTIONS=detect_leaks=0", "-e",
            "trace=\(calls)",
        ]
    }
}
