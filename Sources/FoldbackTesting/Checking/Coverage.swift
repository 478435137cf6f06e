import Foldback

/// What the scripts of a run should reach, random and kept ones.
///
/// A run that never rejects an accepted intent says nothing about that case, however many scripts it
/// checks. So each run counts *pairs*: the kind of a step, and the state of the intent that it names,
/// like `reject of accepted`. An app adds labels for its own cases:
///
/// ```swift
/// try await requireLaws(
///     of: Likes.self, events: events,
///     coverage: Coverage(requiring: ["retry of rejected", "one post liked twice"]) { script in
///         script.likesOnePostTwice ? ["one post liked twice"] : []
///     })
/// ```
/// ``LawReport/pairs`` and ``LawReport/labels`` have the counts, and ``LawReport/missing`` what was
/// required and did not occur. `requireLaws` then throws, also if the time of the effort was over.
/// Fleets have no pairs and no labels, so a run of ``Law/p15`` alone reaches none.
public struct Coverage<Event: Sendable>: Sendable {
    let required: [String]
    let labels: @Sendable (Script<Event>) -> [String]

    /// - Parameters:
    ///   - required: pairs and labels that must occur in at least one script.
    ///   - classify: the labels of a script. A label counts once for a script.
    public init(
        requiring required: [String] = [],
        classify: @escaping @Sendable (Script<Event>) -> [String] = { _ in [] }
    ) {
        self.required = required
        labels = classify
    }
}
