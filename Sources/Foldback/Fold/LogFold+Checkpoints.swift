extension LogFold {
    /// The log folded up to `last` or to its end, from the newest checkpoint that can be used (F11).
    ///
    /// - Returns: the fold, and where it began.
    /// - Throws: as ``replay(_:codec:upTo:)``. A checkpoint that cannot be used is no error; one beyond
    ///   the end of the log is `.damaged`, for its entries were there.
    package static func folded(
        _ storage: any LogStorage, folds: [any AnyFold], rows: [RowFold] = [],
        codec: any PayloadCodec, upTo last: LogSequence? = nil,
        _ taken: (inout LogFold) throws(FoldbackError) -> Void = { _ in }
    ) throws(FoldbackError) -> (fold: LogFold, start: ReplayStart) {
        var fold = LogFold(of: storage, folds: folds, rows: rows)
        let (refused, covered) = try fold.restore(storage, codec: codec, upTo: last)
        let checkpoint = fold.state.sequence
        try fold.replay(storage, codec: codec, upTo: last) { fold, _ throws(FoldbackError) in
            try taken(&fold)
        }
        if let covered, covered > fold.state.sequence {
            throw .damaged(
                path: storage.path, sequence: fold.state.sequence.next,
                reason: "the record is missing, and a checkpoint covers it")
        }
        let ahead = fold.rows.first { last == nil && $0.sequence > fold.state.sequence }
        if let ahead {
            throw .damaged(
                path: storage.path, sequence: fold.state.sequence.next,
                reason: "the record is missing, and the rows of \(ahead.identity) have it")
        }
        let start = ReplayStart(
            checkpoint: checkpoint,
            entriesFolded: Int(clamping: fold.state.sequence.value - checkpoint.value),
            refused: refused)
        return (fold, start)
    }

    /// Goes on from the newest checkpoint up to `last` that can be used; stays where it is with none.
    ///
    /// - Returns: those that could not be used, and the highest sequence that any has rows for: the log
    ///   had that entry.
    private mutating func restore(
        _ storage: any LogStorage, codec: any PayloadCodec, upTo last: LogSequence?
    ) throws(FoldbackError) -> (refused: [RefusedCheckpoint], covered: LogSequence?) {
        let sequences: [LogSequence]
        do throws(FoldbackError) {
            sequences = try storage.checkpointSequences(upTo: last)
        } catch {
            guard case .damaged = error else { throw error }
            return ([RefusedCheckpoint(sequence: nil, reason: .damaged("\(error)"))], nil)
        }
        var refused: [RefusedCheckpoint] = []
        // Rows know entries up to their own sequence, and need those behind it.
        let needed = rows.map(\.sequence).min()
        for sequence in sequences.reversed() where sequence <= needed ?? sequence {
            do throws(CheckpointRefusal) {
                if let checkpoint = try checkpoint(at: sequence, in: storage, codec),
                    try checkpoint.stands(in: storage)
                {
                    self = checkpoint
                    break
                }
            } catch {
                refused.append(RefusedCheckpoint(sequence: sequence, reason: error.reason))
            }
        }
        return (refused, sequences.last)
    }

    /// This fold as the checkpoint has it; nil where its making was cut off.
    private func checkpoint(
        at sequence: LogSequence, in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> LogFold? {
        guard let manifest = try storage.checkpointManifest(at: sequence) else { return nil }
        if let format = codec.format, !folds.isEmpty, format != manifest.format {
            throw CheckpointRefusal(because: .otherCodec(manifest.format))
        }
        let log = try storage.checkpointedLog(of: manifest, codec: codec)
        var restored = LogFold(of: storage, folds: folds, rows: rows, at: log)
        for index in folds.indices {
            let section = try storage.checkpointedProjection(folds[index].identity, of: manifest)
            do {
                try restored.folds[index].restore(section)
            } catch {
                throw CheckpointRefusal(because: .unreadable("\(error)"))
            }
        }
        return restored
    }

    /// A checkpoint stands on its record. False where the log has no such record: it has lost its end.
    private func stands(in storage: any LogStorage) throws(CheckpointRefusal) -> Bool {
        let record: [UInt8]?
        do throws(FoldbackError) {
            record = try storage.record(at: state.sequence)
        } catch {
            throw CheckpointRefusal(error)
        }
        guard let record else { return false }
        guard Record.checksum(of: record) == chain else {
            throw CheckpointRefusal(
                because: .damaged("it does not belong to the entry at its sequence"))
        }
        return true
    }
}

extension PublishedState {
    /// What a checkpoint at this sequence keeps.
    ///
    /// - Throws: `.noCheckpoint` where there can be none, and why.
    /// - Complexity: O(n) in confirmed states and overlay.
    package func checkpoint() throws(FoldbackError) -> Checkpoint {
        if let sequence = firstUnreadable {
            throw .noCheckpoint(
                reason: "the event at sequence \(sequence) cannot be read by this code")
        }
        for view in views where !view.isEncodable {
            throw .noCheckpoint(
                reason: "\(view.identity) has no state codec; make the projection Codable")
        }
        var sections: [ProjectionSection] = []
        for view in views {
            do { sections.append(try view.section()) } catch {
                throw .noCheckpoint(
                    reason: "the state of \(view.identity) cannot be encoded: \(error)")
            }
        }
        return Checkpoint(log: logSection, projections: sections)
    }

    var logSection: LogSection {
        LogSection(
            sequence: sequence, through: through, nextNumber: nextNumber, chain: chain,
            overlay: overlay.values, rejections: rejections)
    }
}
