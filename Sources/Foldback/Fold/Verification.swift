/// What a check of a whole log found; see ``Store/verify()`` and ``LogReader/verify(_:also:)``.
public struct Verification: Sendable, Hashable {
    /// Entries that were read, checked and folded from the first one on.
    public let entriesFolded: Int
    /// Checkpoints that were compared with that fold.
    public let checkpointsCompared: Int
    /// What is wrong, in the order in which it was found; at most 100 of them.
    public let findings: [Finding]
    /// Projections of which something could not be compared. States: they have no `==`, and their bytes differ,
    /// as those of sets and dictionaries do; make them `Equatable`. Rows: those in the log are another
    /// projection's than was asked for, or of another version, schema or codec; entries could not be folded; or
    /// a store changed them faster than they were read.
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

    /// A log that could not even be opened to be checked, because it is damaged; nil where the error
    /// says something else.
    public init?(_ error: FoldbackError) {
        guard case .damaged(_, let sequence, let reason) = error else { return nil }
        let place: Place = sequence.map { .entry($0) } ?? .file
        self.init(
            entriesFolded: 0, checkpointsCompared: 0,
            findings: [Finding(place: place, what: reason)])
    }

    /// Nothing is wrong.
    public var isSound: Bool { findings.isEmpty }

    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        public let place: Place
        public let what: String

        public var description: String { "\(place): \(what)" }
    }

    @nonexhaustive
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// The data file itself: LMDB's pages.
        case file
        case entry(LogSequence)
        /// A row of table verdicts.
        case verdict(IntentNumber)
        /// A row of table attempts.
        case attempt(IntentNumber)
        case checkpoint(LogSequence)
        /// A stored projection's rows.
        case rows(projection: String)
        /// What an open store shows.
        case view(projection: String)

        public var description: String {
            switch self {
            case .file: "data file"
            case .entry(let sequence): "entry \(sequence)"
            case .verdict(let number): "verdict of intent \(number)"
            case .attempt(let number): "attempt of intent \(number)"
            case .checkpoint(let sequence): "checkpoint at \(sequence)"
            case .rows(let projection): "rows of \(projection)"
            case .view(let projection): "view of \(projection)"
            }
        }
    }
}
