import Foldback

/// A law that does not hold, for one history.
struct Violation: Error, Sendable {
    let law: Law
    /// Tells ways of breaking the law apart: a smaller history that breaks it otherwise is another
    /// finding.
    let manner: String
    /// What broke, where, in words of those who write projections.
    let statement: String
    /// What both sides of it are called, and are; none where words say it all.
    let comparison: Comparison?

    struct Comparison: Sendable {
        let expectedName: String
        let expected: StateText
        let foundName: String
        let found: StateText
    }

    init(_ law: Law, _ manner: String, _ statement: String, comparing comparison: Comparison? = nil)
    {
        self.law = law
        self.manner = manner
        self.statement = statement
        self.comparison = comparison
    }

    /// Two sights that should be alike.
    ///
    /// - Parameter manner: nil: what differs.
    init<P>(
        _ law: Law, _ difference: Observation<P>.Difference, _ statement: String, expected: String,
        found: String, manner: String? = nil
    ) {
        self.init(
            law, manner ?? difference.manner, "\(statement) \(difference.name) differs.",
            comparing: Comparison(
                expectedName: expected, expected: difference.expected, foundName: found,
                found: difference.found))
    }

    /// Two states that should be alike.
    init<P: Projection>(
        _ law: Law, _ manner: String, _ statement: String, expected: (String, P), found: (String, P)
    ) {
        let texts = P.texts(expected.1, found.1)
        self.init(
            law, manner, statement,
            comparing: Comparison(
                expectedName: expected.0, expected: texts.0, foundName: found.0, found: texts.1))
    }
}
