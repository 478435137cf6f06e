/// The result of checking laws.
public struct LawReport: Sendable, CustomStringConvertible {
    /// The projection's name.
    public let projection: String
    /// Repeats the same scripts.
    public let seed: UInt64
    /// The laws that hold for every script that ran.
    public internal(set) var held: [Law] = []
    /// The broken laws: the first finding of each manner.
    public internal(set) var findings: [Finding] = []
    /// The laws that were not checked, or not completely.
    public internal(set) var unchecked: [Unchecked] = []
    /// How many scripts the run should check, and how many it checked.
    public internal(set) var scripts = Amount()
    /// How many fleets the run should check for ``Law/p15``, and how many it checked.
    public internal(set) var fleets = Amount()
    /// What else the run could not do: read kept failures, keep a failure, draw scripts.
    public internal(set) var failures: [String] = []
    /// How often scripts, steps, kinds of steps and fleets ran. A report says little about a step
    /// that never ran.
    public internal(set) var counts: [String: Int] = [:]
    /// How often the run reached each pair of a kind of step and the state of the intent that it names,
    /// like `reject of accepted`. The states are those of `IntentState`, and `draft` (held), `sent`
    /// (pending, and its sending has begun), `conflicted` and `unknown`.
    public internal(set) var pairs: [String: Int] = [:]
    /// How many scripts had each label of ``Coverage``.
    public internal(set) var labels: [String: Int] = [:]
    /// What ``Coverage`` requires and no script had.
    public internal(set) var missing: [String] = []
    /// Why the run checked fewer scripts or fleets than it should; nil if it did not.
    var cause: String?

    init(projection: String, seed: UInt64) {
        self.projection = projection
        self.seed = seed
    }

    /// A law that was not checked, or not completely.
    public struct Unchecked: Hashable, Sendable {
        public let law: Law
        public let reason: String
        /// What to do, so that the law is checked; nil if a finding of the same report is the
        /// reason.
        public let remedy: String?
    }

    /// How much a run should check, and how much it checked.
    public struct Amount: Hashable, Sendable {
        /// Nil without a limit.
        public internal(set) var asked: Int?
        public internal(set) var checked = 0

        /// Whether the run checked as much as it should.
        public var isReached: Bool { asked.map { checked >= $0 } ?? true }
    }

    /// The pairs that no script had, of those that a script can have.
    public var pairsNotReached: [String] { Pair.all.subtracting(pairs.keys).sorted() }

    /// Whether no law is broken.
    public var isClean: Bool { findings.isEmpty }

    /// Whether the run checked everything that it should: each law, on as many scripts and fleets
    /// as asked. A run that ends early because each law is broken is complete.
    public var isComplete: Bool { shortfalls.isEmpty }

    /// What the run did not check, and what to do about it, one line each. Empty if it checked
    /// everything.
    public var shortfalls: [String] {
        var lines: [String] = []
        if let cause, !scripts.isReached || !fleets.isReached {
            let amounts = [("scripts", scripts), ("fleets", fleets)].compactMap { name, amount in
                amount.isReached ? nil : "\(amount.checked) of \(amount.asked ?? 0) \(name)"
            }
            lines.append("checked only \(amounts.joined(separator: " and ")): \(cause)")
        }
        for reason in distinct(unchecked.filter { $0.remedy != nil }.map(\.reason)) {
            let laws = unchecked.filter { $0.reason == reason }
            let names = laws.map { "\($0.law)" }.joined(separator: ", ")
            lines.append("not checked: \(names): \(reason). \(laws[0].remedy ?? "").")
        }
        lines += missing.map { name in
            let known = labels.isEmpty ? "none" : labels.keys.sorted().joined(separator: ", ")
            let hint =
                Pair.all.contains(name) ? "" : " (not a pair; labels that occurred: \(known))"
            return
                "never occurred, and is required: \"\(name)\"\(hint). Raise the effort, or let the "
                + "generator of events make it."
        }
        return lines + failures
    }

    public var description: String {
        var lines = ["laws of \(projection), seed \(seed)"]
        lines += findings.map { "\($0)" }
        if !held.isEmpty {
            lines.append("hold: \(held.map(\.rawValue).joined(separator: ", "))")
        }
        for reason in distinct(unchecked.filter { $0.remedy == nil }.map(\.reason)) {
            let laws = unchecked.filter { $0.reason == reason }.map(\.law.rawValue)
            lines.append("not checked: \(laws.joined(separator: ", ")): \(reason)")
        }
        lines += shortfalls
        let counts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        lines.append("tried: \(counts.joined(separator: ", "))")
        if !labels.isEmpty {
            let labels = labels.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            lines.append("labels: \(labels.joined(separator: ", "))")
        }
        if !pairs.isEmpty {
            let rest = pairsNotReached
            let which = rest.isEmpty ? "" : ", not: \(rest.joined(separator: ", "))"
            lines.append("pairs: \(Pair.all.count - rest.count) of \(Pair.all.count)\(which)")
        }
        return lines.joined(separator: "\n")
    }

    /// Notes that no other process checked a script: P14 is not checked, and P1 only in this
    /// process.
    mutating func noteUnavailable(_ reason: String, for laws: [Law]) {
        let remedy =
            "Check the laws on Linux, with a projection that is neither private nor generic"
        for law in [Law.p14, .p1] where laws.contains(law) {
            let how = law == .p1 ? "folded in this process only, because " : ""
            unchecked.append(
                Unchecked(law: law, reason: "\(how)\(reason)", remedy: remedy))
        }
    }

    private func distinct(_ reasons: [String]) -> [String] {
        var seen: Set<String> = []
        return reasons.filter { seen.insert($0).inserted }
    }
}

/// Thrown if laws are broken, or if a run that must be complete is not. The description is the
/// report.
public struct LawsBroken: Error, Sendable, CustomStringConvertible {
    public let report: LawReport
    public var description: String { report.description }
}

/// What ``requireLaws(of:events:itemIDs:laws:effort:coverage:completeness:seed:failures:file:)`` does if a
/// run checked less than it should.
public enum Completeness: Hashable, Sendable {
    /// It says so on standard error.
    case told
    /// It says so on standard error, and fails.
    case required
}
