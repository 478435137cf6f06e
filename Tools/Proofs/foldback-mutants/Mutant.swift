import FoldbackTesting

/// A deliberate fault, and the law, the probe or the test that must find it.
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
    let judge: Judge
    let fault: Fault

    enum Judge: Equatable, Sendable {
        case law(Law)
        case probe(Probe)
        /// A test of the library, by its full name.
        case test(String)

        /// The law's name, the probe's, or the test's.
        var text: String {
            switch self {
            case .law(let law): law.rawValue
            case .probe(let probe): probe.rawValue
            case .test(let name): name
            }
        }
    }

    enum Fault: Sendable {
        /// A change of the code at a marker, and the projection that shows it.
        case source(marker: String, Change, Subject)
        /// A projection that is wrong itself.
        case projection(any TestProjection.Type)
        /// A projection that refuses other events than ``StrictProjection`` on the same log.
        case beside(any TestProjection.Type)
    }

    /// A projection that faults in the sources are tried on.
    enum Subject: Sendable {
        /// ``CorrectProjection``.
        case value
        /// ``ChangesFirst``.
        case changesFirst
        /// ``CorrectRows``.
        case rows
        /// ``StrictProjection``, which shares its conflicts with ``CorrectRows``.
        case sharing
        /// ``StrictProjection``, which shares its conflicts with ``CorrectRows`` as a value.
        case sharingValues
    }

    /// A fault in `Sources`.
    init(
        _ name: String, rule: String, law: Law, at marker: String, _ change: Change,
        on subject: Subject = .value
    ) {
        self.name = name
        self.rule = rule
        judge = .law(law)
        fault = .source(marker: marker, change, subject)
    }

    /// A fault in `Sources` that only a probe can find.
    init(_ name: String, rule: String, probe: Probe, at marker: String, _ change: Change) {
        self.name = name
        self.rule = rule
        judge = .probe(probe)
        fault = .source(marker: marker, change, .value)
    }

    /// A fault in `Sources` that one of the library's tests finds.
    ///
    /// - Parameter test: The test's name, which is a sentence.
    init(_ name: String, rule: String, test: String, at marker: String, _ change: Change) {
        self.name = name
        self.rule = rule
        judge = .test(test)
        fault = .source(marker: marker, change, .value)
    }

    /// A fault in a projection, as an app may have it.
    init(_ name: String, rule: String, law: Law, in projection: any TestProjection.Type) {
        self.name = name
        self.rule = rule
        judge = .law(law)
        fault = .projection(projection)
    }

    /// A fault of two projections on one log. Each is right by itself.
    init(_ name: String, rule: String, law: Law, beside projection: any TestProjection.Type) {
        self.name = name
        self.rule = rule
        judge = .law(law)
        fault = .beside(projection)
    }

    var isProjection: Bool {
        switch fault {
        case .source: false
        case .projection, .beside: true
        }
    }
}

/// The mutants, at least one for each of the rules F2 to F10 and F13 to F15, and for each law
/// (MarkerTests).
///
/// Add a mutant here, and its marker at the end of a line in `Sources`.
let mutants: [Mutant] =
    entryMutants + answerMutants + storageMutants + fileMutants + sendingMutants + undoMutants
    + rowMutants
    + sharingMutants + viewMutants + serverMutants + projectionMutants
