import FoldbackTesting

/// A deliberate fault, and the law that must find it.
///
/// ```swift
/// Mutant(
///     "a batch is applied in the order in which it came", rule: "F5", law: .p2,
///     at: "batch-order", .holds)
/// ```
///
/// The place of a fault in `Sources` is a line that ends in `// mutant: batch-order`. Each marker
/// occurs once in `Sources` and belongs to one mutant (MarkerTests).
struct Mutant: Sendable {
    let name: String
    /// The broken rule of the article Invariants. If none covers the fault, the law, or "rows".
    let rule: String
    let law: Law
    let fault: Fault

    enum Fault: Sendable {
        /// A change of the code at a marker, and the projection that shows it.
        case source(marker: String, Change, Subject)
        /// A projection that is wrong itself.
        case projection(any TestProjection.Type)
    }

    /// A projection that faults in the sources are tried on.
    enum Subject: Sendable {
        /// ``CorrectProjection``.
        case value
        /// ``ChangesFirst``.
        case changesFirst
        /// ``CorrectRows``.
        case rows
    }

    /// A fault in `Sources`.
    init(
        _ name: String, rule: String, law: Law, at marker: String, _ change: Change,
        on subject: Subject = .value
    ) {
        self.name = name
        self.rule = rule
        self.law = law
        fault = .source(marker: marker, change, subject)
    }

    /// A fault in a projection, as an app may have it.
    init(_ name: String, rule: String, law: Law, in projection: any TestProjection.Type) {
        self.name = name
        self.rule = rule
        self.law = law
        fault = .projection(projection)
    }

    var isProjection: Bool {
        switch fault {
        case .source: false
        case .projection: true
        }
    }
}

/// The mutants, at least one for each of the rules F2 to F10 and F13 to F15, and for each law
/// (MarkerTests).
///
/// Add a mutant here, and its marker at the end of a line in `Sources`.
let mutants: [Mutant] =
    entryMutants + answerMutants + storageMutants + sendingMutants + rowMutants + projectionMutants
