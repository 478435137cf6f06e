import FoldbackLMDB

extension LMDBLog {
    /// Adds to the base what it lacks of these projections, folded from the archives (C9). Older code still
    /// finds what it needs there.
    ///
    /// - Parameter folder: the folder of the archives.
    /// - Throws: `.lacksArchive`; `.needsHistory` if the archives do not go back far enough; the errors of
    ///   folding them; `.noCheckpoint`, `.storage`. Nothing was changed.
    /// - Complexity: nothing if the base lacks nothing. Else folds the removed entries.
    func completeBase(
        from folder: String, _ projections: ProjectionSet, codec: any PayloadCodec
    ) throws(LogError) {
        guard let base, try lacksStates(of: projections, at: base) else { return }
        let whole = try ArchivedLog.pair(self, base, in: folder)
        defer { whole.closeArchive() }
        var fold = try LogFold.beginning(of: whole, projections.inMemory, codec: codec)
        try fold.replay(whole, codec: codec, upTo: base.sequence)
        // A base has no list of events that its states lack (E6, E11).
        if let unread = [fold.unread.first, fold.partlyRead.first].compactMap(\.self).min() {
            throw .needsHistory(
                path: path,
                projections: projections.members.map {
                    "\($0.identity) (entry \(unread) has an event that this code does not read)"
                }, base: base.sequence)
        }
        let made = try fold.makePublishedState().checkpoint().projections
        var batch = WriteBatch()
        do throws(CheckpointRefusal) {
            try replace(base, adding: made, in: &batch)
        } catch {
            if let failure = error.failure { throw failure }
            throw .damaged(
                path: path, sequence: base.sequence,
                reason: "the base at which the log begins: \(error.reason)")
        }
        do throws(StorageFailure) { try write(batch) } catch { throw error.unwritten }
    }

    /// Whether this code can begin at the base.
    ///
    /// - Complexity: decodes the states at the base.
    func hasStates(
        of projections: ProjectionSet, _ codec: any PayloadCodec
    ) throws(LogError) -> Bool {
        do throws(LogError) {
            _ = try LogFold.beginning(of: self, projections.inMemory, codec: codec)
            return true
        } catch {
            guard case .needsHistory = error else { throw error }
            return false
        }
    }

    /// Whether the base lacks the state or the rows of a projection, and the log has no rows for it.
    private func lacksStates(
        of projections: ProjectionSet, at base: LogBase
    ) throws(LogError) -> Bool {
        let there: Set<ProjectionIdentity>
        do throws(CheckpointRefusal) {
            there = Set(
                try checkpointManifest(at: base.sequence)?.sections.compactMap(\.projection) ?? [])
        } catch {
            // Folding the log tells more.
            return false
        }
        let rows = Set(
            try storedRows().filter { $0.sequence >= base.sequence }.map(\.identity))
        return projections.folds.contains { there.isDisjoint(with: $0.identitiesAtBase) }
            || projections.rows.contains {
                there.isDisjoint(with: $0.identitiesAtBase) && !rows.contains($0.identity)
            }
    }

    private func replace(
        _ base: LogBase, adding made: [ProjectionSection], in batch: inout WriteBatch
    ) throws(CheckpointRefusal) {
        guard let manifest = try checkpointManifest(at: base.sequence) else {
            throw CheckpointRefusal(because: .damaged("it is missing"))
        }
        let new = Set(made.map(\.identity))
        var sections = made
        for identity in manifest.sections.compactMap(\.projection) where !new.contains(identity) {
            sections.append(try checkpointedProjection(identity, of: manifest))
        }
        let rows = CheckpointRows(
            Checkpoint(
                log: try checkpointedLog(of: manifest, codec: RawCodec()), projections: sections,
                unread: UnreadEvents(), partlyRead: PartlyReadEvents()),
            format: manifest.format, hasNotes: manifest.hasNotes, replicas: header.replicas)
        do throws(LogError) {
            for key in try checkpointKeys(at: base.sequence, countMax: .max) {
                batch.removeCheckpointRow(at: key)
            }
        } catch { throw CheckpointRefusal(error) }
        for row in rows.rows { batch.writeCheckpointRow(row) }
    }
}
