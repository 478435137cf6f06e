/// What checking laws found.
public struct LawReport: Sendable, CustomStringConvertible {
    /// The projection's name.
    public let projection: String
    /// With it the same histories are made again.
    public let seed: UInt64
    /// The laws that were checked, and hold for every history that was tried.
    public internal(set) var held: [Law]
    /// What does not hold; the first of each way of breaking.
    public internal(set) var findings: [Finding]
    /// What was not checked, or not wholly.
    public internal(set) var unchecked: [Unchecked]
    /// What the histories had in them: `histories`, `steps`, kinds of steps, refusals, conflicts. Laws say
    /// little about what never occurred.
    public internal(set) var counts: [String: Int]

    /// A law of which nothing can be said, or not all.
    public struct Unchecked: Hashable, Sendable {
        public let law: Law
        public let reason: String
    }

    public var isClean: Bool { findings.isEmpty }

    public var description: String {
        var lines = ["laws of \(projection), seed \(seed)"]
        lines += findings.map { "\($0)" }
        if !held.isEmpty {
            lines.append("hold: \(held.map(\.rawValue).joined(separator: ", "))")
        }
        for reason in unchecked.map(\.reason) where !lines.contains(where: { $0.hasSuffix(reason) })
        {
            let laws = unchecked.filter { $0.reason == reason }.map(\.law.rawValue)
            lines.append("not checked: \(laws.joined(separator: ", ")): \(reason)")
        }
        let counts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        lines.append("tried: \(counts.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}

/// Laws do not hold; the description is the report.
public struct LawsBroken: Error, Sendable, CustomStringConvertible {
    public let report: LawReport
    public var description: String { report.description }
}
