import Foldback

/// Checks that a projection keeps the laws on a log where it shares its conflicts with another one,
/// a ``/Foldback/Projection`` or a ``/Foldback/StoredProjection``.
///
/// ```swift
/// let report = await checkLaws(of: Channels.self, also: Messages.self, events: events)
/// ```
/// Use it if an app's store has both, with events that one of them refuses and the other does not.
/// Check each projection by itself, too.
///
/// The parameters are those of ``checkLaws(of:events:itemIDs:laws:effort:coverage:seed:failures:file:)``.
public nonisolated(nonsending) func checkLaws<P: Projection, Other: EventFold>(
    of projection: P.Type, also other: Other.Type, events: Generator<P.Event>,
    itemIDs: ItemIDs<P>? = nil, laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport where Other.Event == P.Event {
    await checkLaws(
        of: Sharing<P, Other>.self, events: events,
        itemIDs: itemIDs.map { ids in ItemIDs { ids.of($0.state) } }, laws: laws, effort: effort,
        coverage: coverage, seed: seed, failures: failures, file: file)
}

/// Checks as ``checkLaws(of:also:events:itemIDs:laws:effort:coverage:seed:failures:file:)``, and throws the
/// report if a law is broken.
///
/// - Throws: ``LawsBroken``, whose description is the report.
@discardableResult
public nonisolated(nonsending) func requireLaws<P: Projection, Other: EventFold>(
    of projection: P.Type, also other: Other.Type, events: Generator<P.Event>,
    itemIDs: ItemIDs<P>? = nil, laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), completeness: Completeness = .told,
    seed: UInt64? = nil, failures: Failures = .besideTests,
    file: String = #filePath
) async throws(LawsBroken) -> LawReport where Other.Event == P.Event {
    try await requireLaws(
        of: Sharing<P, Other>.self, events: events,
        itemIDs: itemIDs.map { ids in ItemIDs { ids.of($0.state) } }, laws: laws, effort: effort,
        coverage: coverage, completeness: completeness, seed: seed, failures: failures, file: file)
}
