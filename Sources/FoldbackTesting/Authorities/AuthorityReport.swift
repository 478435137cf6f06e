/// What ``checkAuthority(_:samples:seed:sources:)`` found.
public struct AuthorityReport: Sendable, CustomStringConvertible {
    /// A law that the server broke.
    public struct Finding: Sendable, CustomStringConvertible {
        /// The check that found it, which begins with the law: "A1: a rejection is remembered".
        public let check: String
        /// What the server did, in one sentence.
        public let what: String
        /// What to change in the server.
        public let remedy: String
        /// The requests and answers from the first one of the check on, one line each.
        public let exchange: [String]

        public var description: String {
            """
            \(check)
              \(what)
              To fix it: \(remedy)
            \(exchange.map { "    \($0)" }.joined(separator: "\n"))
            """
        }
    }

    /// The checks that the server passed.
    public internal(set) var passed: [String] = []
    /// The broken laws, in the order of the checks.
    public internal(set) var findings: [Finding] = []
    /// The checks that were left out, each with what they need.
    public internal(set) var skipped: [String] = []
    /// Repeats the run on the same data.
    public let seed: UInt64

    /// Whether no check failed.
    public var isClean: Bool { findings.isEmpty }

    public var description: String {
        var lines = ["authority, seed \(seed): \(passed.count) passed, \(findings.count) failed"]
        lines += findings.map(\.description)
        lines += skipped.map { "not checked: \($0)" }
        return lines.joined(separator: "\n")
    }
}
