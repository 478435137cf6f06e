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
        guard let base, try lacksStates(of: projections, codec) else { return }
        let whole = try ArchivedLog.pair(self, base, in: folder)
        defer { whole.closeArchive() }
        var fold = try LogFold.beginning(of: whole, projections.inMemory, codec: codec)
        try fold.replay(whole, codec: codec, upTo: base.sequence)
        let made = try fold.makePublishedState().checkpoint().projections
        var batch = WriteBatch()
        do throws(CheckpointRefusal) {
            try replace(base, adding: made, in: &batch)
        } catch {
            throw .damaged(
                path: path, sequence: base.sequence,
                reason: "the base at which the log begins: \(error.reason)")
        }
        do throws(StorageFailure) { try write(batch) } catch { throw error.unwritten }
    }

    private func lacksStates(
        of projections: ProjectionSet, _ codec: any PayloadCodec
    ) throws(LogError) -> Bool {
        do throws(LogError) {
            _ = try LogFold.beginning(of: self, projections.inMemory, codec: codec)
            return false
        } catch {
            guard case .needsHistory = error else { throw error }
            return true
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
