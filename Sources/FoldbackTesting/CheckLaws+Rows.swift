import Foldback

/// Checks that a stored projection keeps the laws: its `apply` over rows in memory, and the rows of
/// a store on the same log. The stored rows must show the same in every law, down to the bytes of
/// indexes.
///
/// For ``Law/p9`` the keys are noted while an event reads and writes rows, not declared.
/// ``Law/p11`` also checks the codecs and keys of tables. For ``Law/p13`` `rowIDs` says which rows
/// are items: `ItemIDs(keysOf: Inbox.messages)`.
///
/// - Complexity: about twice as long as for a value, because of the second projection and because
///   its past is folded from the first entry.
public nonisolated(nonsending) func checkLaws<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, rowIDs: ItemIDs<RowsInMemory<P>>? = nil,
    laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport {
    await checkLaws(
        of: RowsInMemory<P>.self, events: events, itemIDs: rowIDs, laws: laws, effort: effort,
        coverage: coverage, seed: seed, failures: failures, file: file)
}

/// Checks that a stored projection keeps the laws, and throws the report if one is broken.
///
/// A run that checks less than it should says so. With `completeness: .required` it also fails.
///
/// - Throws: ``LawsBroken``, whose description is the report.
@discardableResult
public nonisolated(nonsending) func requireLaws<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, rowIDs: ItemIDs<RowsInMemory<P>>? = nil,
    laws: Set<Law> = .standard, effort: Effort = .standard,
    coverage: Coverage<P.Event> = Coverage(), completeness: Completeness = .told,
    seed: UInt64? = nil, failures: Failures = .besideTests,
    file: String = #filePath
) async throws(LawsBroken) -> LawReport {
    try await requireLaws(
        of: RowsInMemory<P>.self, events: events, itemIDs: rowIDs, laws: laws, effort: effort,
        coverage: coverage, completeness: completeness, seed: seed, failures: failures, file: file)
}

extension ItemIDs {
    /// The keys of a stored projection's table.
    public init<Stored, Key, Row>(keysOf table: RowTable<Key, Row>)
    where P == RowsInMemory<Stored> {
        self.init { rows in
            var touched = rows.touchable
            // A table of another projection has no rows here.
            return (try? touched.keys(of: table)) ?? []
        }
    }
}
