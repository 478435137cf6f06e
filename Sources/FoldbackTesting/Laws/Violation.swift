import Foldback

/// A law that does not hold for one script.
struct Violation: Error, Sendable {
    let law: Law
    /// The way in which the law is broken. A smaller script that breaks it in another way is
    /// another finding.
    let manner: String
    /// What broke, and where, in terms of the projection.
    let statement: String
    /// Both sides, with their names; nil if the statement is enough.
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

    /// Two observations that should be equal.
    ///
    /// - Parameter manner: nil for the name of the part that differs.
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

    /// Two states that should be equal.
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
