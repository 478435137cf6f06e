import FoldbackTesting

/// A fault put into the code on purpose, and the law that has to find it.
struct Mutant: Sendable {
    let name: String
    /// The rule of the design that it breaks.
    let rule: String
    let law: Law
    let fault: Fault
    /// On what it is tried.
    var subject = Subject.right

    enum Fault: Sendable {
        /// Part of a file in `Sources`, which must be there exactly once, and what is there instead while
        /// the mutant is active. `MUTANT` stands for whether it is.
        case source(_ file: String, _ original: String, _ mutated: String)
        /// A projection of its own.
        case projection

        var isProjection: Bool { if case .projection = self { true } else { false } }
    }

    /// Projections that faults in the code are tried on.
    enum Subject: Sendable { case right, sloppy, rows }
}
