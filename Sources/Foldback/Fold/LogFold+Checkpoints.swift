extension LogFold {
    /// Returns the fold where the log begins: before its first entry, or at its base (C1).
    ///
    /// - Throws: `.needsHistory` if the base lacks a state or rows of a projection; `.damaged`,
    ///   `.newerFormat` if it cannot be decoded; the errors of reading.
    package static func beginning(
        of storage: any LogStorage, _ projections: ProjectionSet = ProjectionSet(),
        codec: any PayloadCodec, sharing shared: SharedConflicts = SharedConflicts()
    ) throws(LogError) -> LogFold {
        let fold = LogFold(of: storage, projections, sharing: shared)
        guard let base = storage.base else { return fold }
        let begun: (fold: LogFold, lacking: [String])
        do throws(CheckpointRefusal) {
            begun = try fold.begun(at: base, in: storage, codec)
        } catch {
            if let failure = error.failure { throw failure }
            switch error.reason {
            case .newerFormat(let found):
                throw .newerFormat(path: storage.path, sequence: base.sequence, found: found)
            default:
                throw .damaged(
                    path: storage.path, sequence: base.sequence,
                    reason: "the base at which the log begins: \(error.reason)")
            }
        }
        guard begun.lacking.isEmpty else {
            throw .needsHistory(
                path: storage.path, projections: begun.lacking, base: base.sequence)
        }
        return begun.fold
    }

    /// Returns the fold at the base, and the projections that the base lacks, each perhaps with a reason.
    private func begun(
        at base: LogBase, in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> (fold: LogFold, lacking: [String]) {
        guard let manifest = try storage.checkpointManifest(at: base.sequence) else {
            throw CheckpointRefusal(because: .damaged("it is missing"))
        }
        let log = try storage.checkpointedLog(of: manifest, codec: codec)
        guard log.chain == base.chain, log.nextNumber == base.nextNumber else {
            throw CheckpointRefusal(because: .damaged("it differs from the row base"))
        }
        var begun = LogFold(
            of: storage, folds: folds, rows: rows, sharing: shared, at: log,
            without: UnreadEvents(), partly: PartlyReadEvents())
        var lacking: [String] = []
        /// Restores a projection from its section, or notes why this is not possible.
        func restore(
            _ identity: ProjectionIdentity, from taken: [ProjectionIdentity],
            _ take: (ProjectionSection) throws -> Void
        ) throws(CheckpointRefusal) {
            let there = manifest.sections.compactMap(\.projection)
            guard let found = taken.first(where: { there.contains($0) }) else {
                let other = there.first { $0.name == identity.name }
                return lacking.append(
                    other.map { "\(identity) (the base has version \($0.version))" }
                        ?? "\(identity)")
            }
            let section = try storage.checkpointedProjection(found, of: manifest)
            do { try take(section) } catch { lacking.append("\(identity) (\(error))") }
        }
        for index in folds.indices {
            let fold = folds[index]
            try restore(fold.identity, from: fold.identitiesAtBase) {
                try begun.folds[index].restore($0)
            }
        }
        for index in rows.indices where rows[index].sequence < base.sequence {
            try restore(rows[index].identity, from: rows[index].identitiesAtBase) {
                try begun.rows[index].restore($0, at: base.sequence)
            }
        }
        return (begun, lacking)
    }

    /// Returns the log folded up to `last` or to its end, from the newest usable checkpoint (F11).
    ///
    /// - Parameters:
    ///   - shared: which projections share their conflicts; see ``init(of:_:sharing:)``.
    ///   - applied: called after each entry.
    /// - Returns: the fold, and where it began. A checkpoint that cannot be used is not an error.
    /// - Throws: as ``replay(_:codec:upTo:_:)``. `.damaged` also if a checkpoint or a projection's
    ///   rows cover entries after the log's end, because these entries must have existed.
    package static func folded(
        _ storage: any LogStorage, _ projections: ProjectionSet = ProjectionSet(),
        codec: any PayloadCodec, upTo last: LogSequence? = nil,
        sharing shared: SharedConflicts = SharedConflicts(),
        _ applied: (inout LogFold) throws(LogError) -> Void = { _ in }
    ) throws(LogError) -> (fold: LogFold, start: ReplayStart) {
        try last.map { last throws(LogError) in try storage.requireView(at: last) }
        var fold = LogFold(of: storage, projections, sharing: shared)
        let (refused, covered) = try fold.restore(storage, codec: codec, upTo: last)
        if fold.state.sequence < storage.baseSequence {
            fold = try .beginning(of: storage, projections, codec: codec, sharing: shared)
        }
        let checkpoint = fold.state.sequence
        try fold.replay(storage, codec: codec, upTo: last) { fold, _, _ throws(LogError) in
            try applied(&fold)
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
                reason: "the record is missing, and the rows of \(ahead.identity) cover it")
        }
        let start = ReplayStart(
            checkpoint: checkpoint,
            entriesFolded: Int(clamping: fold.state.sequence.value - checkpoint.value),
            refused: refused)
        return (fold, start)
    }

    /// Replaces this fold by the newest usable checkpoint up to `last`. Does nothing if there is
    /// none.
    ///
    /// - Returns: the checkpoints that could not be used, and the highest sequence of any
    ///   checkpoint. The log must have had that entry.
    private mutating func restore(
        _ storage: any LogStorage, codec: any PayloadCodec, upTo last: LogSequence?
    ) throws(LogError) -> (refused: [RefusedCheckpoint], covered: LogSequence?) {
        let sequences: [LogSequence]
        do throws(LogError) {
            // The base is where the log begins, and no checkpoint beside others.
            sequences = try storage.checkpointSequences(upTo: last)
                .filter { $0 > storage.baseSequence }
        } catch {
            guard case .damaged = error else { throw error }
            return ([RefusedCheckpoint(sequence: nil, reason: .damaged("\(error)"))], nil)
        }
        var refused: [RefusedCheckpoint] = []
        // Rows cover the entries up to their own sequence, and need all entries after it.
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

    /// Returns this fold at the checkpoint; nil if the checkpoint was not completed.
    private func checkpoint(
        at sequence: LogSequence, in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> LogFold? {
        guard let manifest = try storage.checkpointManifest(at: sequence) else { return nil }
        if let format = codec.format, !folds.isEmpty, format != manifest.format {
            throw CheckpointRefusal(because: .otherCodec(manifest.format))
        }
        var unread = try storage.checkpointedUnread(of: manifest)
        // Rows that lack an event which this code can read are made again from entry 1, without
        // any checkpoint. So only states depend on these events here, and the rows have those that
        // this code has learned.
        if !folds.isEmpty { try storage.requireUnread(unread, by: codec) }  // mutant: learned-event
        if folds.isEmpty, !rows.isEmpty { unread = try storage.stillUnread(unread, by: codec) }
        let partlyRead = try checkpointedPart(of: manifest, in: storage, codec)
        let log = try storage.checkpointedLog(of: manifest, codec: codec)
        var restored = LogFold(
            of: storage, folds: folds, rows: rows, sharing: shared, at: log, without: unread,
            partly: partlyRead)
        for index in folds.indices {
            let section = try storage.checkpointedProjection(folds[index].identity, of: manifest)
            do {
                try restored.folds[index].restore(section)
            } catch let error as PartlyReadState {
                throw CheckpointRefusal(
                    because: .hasMembers(
                        error.members.map(\.description),
                        projection: "\(folds[index].identity)"))
            } catch {
                throw CheckpointRefusal(because: .unreadable("\(error)"))
            }
        }
        return restored
    }

    /// Returns the notes of events that the checkpoint's states have only in part, as this code
    /// makes them.
    ///
    /// - Throws: a refusal if this code reads more of one, or if older code wrote no notes. Rows
    ///   have notes of their own, so a log without other states is not refused.
    private func checkpointedPart(
        of manifest: CheckpointManifest, in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> PartlyReadEvents {
        if !folds.isEmpty, codec.notesMembers, !manifest.hasNotes {
            throw CheckpointRefusal(because: .lacksNotes)
        }
        let read = try storage.checkpointedPart(of: manifest).read(by: codec)
        let more = folds.isEmpty ? nil : read.more  // mutant: learned-member
        if let more {
            throw CheckpointRefusal(
                because: .lacksMembers(
                    more.part.members.map(\.string).sorted(), ofEvent: more.first))
        }
        return read.notes
    }

    /// Returns whether the log has the record at the checkpoint's sequence; false if the log has
    /// lost its end.
    ///
    /// - Throws: a refusal if the checksum of that record is not the checkpoint's.
    private func stands(in storage: any LogStorage) throws(CheckpointRefusal) -> Bool {
        let record: [UInt8]?
        do throws(LogError) {
            record = try storage.record(at: state.sequence)
        } catch {
            throw CheckpointRefusal(error)
        }
        guard let record else { return false }
        guard Record.checksum(of: record) == chain else {
            throw CheckpointRefusal(
                because: .damaged("the entry at its sequence has another checksum"))
        }
        return true
    }
}

extension PublishedState {
    /// Returns the content of a checkpoint at this sequence.
    ///
    /// - Throws: `.noCheckpoint` with the reason if there cannot be one.
    /// - Complexity: O(n) in confirmed states and overlay.
    package func checkpoint() throws(LogError) -> Checkpoint {
        var sections: [ProjectionSection] = []
        for view in views { sections.append(try view.checkpointSection()) }
        return Checkpoint(
            log: logSection, projections: sections, unread: unread, partlyRead: partlyRead)
    }

    /// The log's own section of a checkpoint.
    var logSection: LogSection {
        LogSection(
            sequence: sequence, through: through, nextNumber: nextNumber, chain: chain,
            overlay: overlay.values, rejections: rejections, undoneBy: undoneBy,
            released: drafts.onlyReleased)
    }
}
