import Foldback

/// The same for a stored projection: every law of its `apply`, over rows in memory, and beside it a store
/// that has the projection itself: what its rows show has to be the same wherever the laws look, down to the
/// bytes of indexes.
///
/// For ``Law/p9`` the keys are those of the rows that an event asks for or changes: they are noted, not
/// declared. ``Law/p11`` looks at the codecs and keys of tables as well. For ``Law/p13`` `rowIDs` says which
/// rows are items: `ItemIDs(keysOf: Inbox.messages)`.
///
/// - Complexity: two to four times as long as for a value: a store beside, and the past folded from its start.
public nonisolated(nonsending) func checkLaws<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, rowIDs: ItemIDs<RowsInMemory<P>>? = nil,
    laws: Set<Law> = Set(Law.allCases), effort: Effort = .standard, seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async -> LawReport {
    await checkLaws(
        of: RowsInMemory<P>.self, events: events, itemIDs: rowIDs, laws: laws, effort: effort,
        seed: seed, failures: failures, file: file)
}

/// The same, throwing what it finds.
///
/// - Throws: ``LawsBroken``, whose description is the report.
@discardableResult
public nonisolated(nonsending) func requireLaws<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, rowIDs: ItemIDs<RowsInMemory<P>>? = nil,
    laws: Set<Law> = Set(Law.allCases), effort: Effort = .standard, seed: UInt64? = nil,
    failures: Failures = .besideTests, file: String = #filePath
) async throws(LawsBroken) -> LawReport {
    try await requireLaws(
        of: RowsInMemory<P>.self, events: events, itemIDs: rowIDs, laws: laws, effort: effort,
        seed: seed, failures: failures, file: file)
}

extension ItemIDs {
    /// The keys of a stored projection's table.
    public init<Stored, Key, Row>(keysOf table: RowTable<Key, Row>)
    where P == RowsInMemory<Stored> {
        self.init { rows in
            var touched = rows.touchable
            // A table of another projection has none.
            return (try? touched.keys(of: table)) ?? []
        }
    }
}
