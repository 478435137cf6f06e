/// The result of checking laws.
public struct LawReport: Sendable, CustomStringConvertible {
    /// The projection's name.
    public let projection: String
    /// Repeats the same scripts.
    public let seed: UInt64
    /// The laws that hold for every script that ran.
    public internal(set) var held: [Law]
    /// The broken laws: the first finding of each manner.
    public internal(set) var findings: [Finding]
    /// The laws that were not checked, or not completely.
    public internal(set) var unchecked: [Unchecked]
    /// How often scripts, steps, kinds of steps and fleets ran. A report says little about a step that never
    /// ran.
    public internal(set) var counts: [String: Int]

    /// A law that was not checked, or not completely.
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

/// Thrown if laws are broken. The description is the report.
public struct LawsBroken: Error, Sendable, CustomStringConvertible {
    public let report: LawReport
    public var description: String { report.description }
}
