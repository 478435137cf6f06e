/// The result of a check of a whole log; see ``Store/verify()`` and `LogReader.verify(_:also:)`.
///
/// ```swift
/// let verification = try await store.verify()
/// for finding in verification.findings { print(finding) }
/// ```
public struct Verification: Sendable, Hashable {
    /// The number of entries that were read, checked and folded, from the first entry on.
    public let entriesFolded: Int
    /// The number of checkpoints that were compared with that fold.
    public let checkpointsCompared: Int
    /// The problems, in the order in which they were found. At most 100.
    public let findings: [Finding]
    /// The names of the projections with states or rows that could not be compared.
    ///
    /// States cannot be compared if they have no `==` and their bytes differ, as the bytes of sets
    /// and dictionaries do. Make such states `Equatable`.
    ///
    /// A projection is also listed if code that reads other events made states or rows of it, such
    /// as a newer version of the app, or if the log's note of shared conflicts is damaged and an
    /// open store shows views.
    ///
    /// Rows cannot be compared if
    /// - the rows in the log belong to another projection than the check got, or to another
    ///   version, schema or codec of it;
    /// - entries could not be folded;
    /// - a store changed the rows faster than the check read them.
    public let notCompared: [String]

    package init(
        entriesFolded: Int, checkpointsCompared: Int, findings: [Finding],
        notCompared: [String] = []
    ) {
        self.entriesFolded = entriesFolded
        self.checkpointsCompared = checkpointsCompared
        self.findings = findings
        self.notCompared = notCompared
    }

    /// Turns the error of a log that cannot be opened for the check, because it is damaged, into a
    /// finding.
    ///
    /// Nil if the error is not `.damaged`.
    public init?(_ error: LogError) {
        guard case .damaged(_, let sequence, let reason) = error else { return nil }
        let place: Place = sequence.map { .entry($0) } ?? .file
        self.init(
            entriesFolded: 0, checkpointsCompared: 0,
            findings: [Finding(place: place, what: reason)])
    }

    /// Returns this verification with the findings of a check of the same log that compared no states.
    package func adding(_ other: Verification) -> Verification {
        Verification(
            entriesFolded: entriesFolded, checkpointsCompared: checkpointsCompared,
            findings: findings + other.findings.filter { !findings.contains($0) },
            notCompared: notCompared)
    }

    /// Whether the check found no problem. ``notCompared`` can still have projections.
    public var isSound: Bool { findings.isEmpty }

    /// One problem in a log.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The part of the log that has the problem.
        public let place: Place
        /// The problem as text.
        public let what: String

        public var description: String { "\(place): \(what)" }
    }

    /// The part of a log that has a problem.
    @nonexhaustive
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// The data file itself: LMDB's pages.
        case file
        /// An entry, or its record.
        case entry(LogSequence)
        /// A row of table verdicts.
        case settlement(IntentNumber)
        /// A row of table attempts.
        case attempt(IntentNumber)
        /// The checkpoint at this sequence.
        case checkpoint(LogSequence)
        /// A stored projection's rows.
        case rows(projection: String)
        /// The view or rows that an open store shows.
        case view(projection: String)

        public var description: String {
            switch self {
            case .file: "data file"
            case .entry(let sequence): "entry \(sequence)"
            case .settlement(let number): "verdict of intent \(number)"
            case .attempt(let number): "attempt of intent \(number)"
            case .checkpoint(let sequence): "checkpoint at \(sequence)"
            case .rows(let projection): "rows of \(projection)"
            case .view(let projection): "view of \(projection)"
            }
        }
    }
}
