/// The stored projections of a log, and their rows.
extension LogStorage {
    /// Attaches the projections to their rows in this log. A projection without usable rows begins
    /// before the first entry.
    ///
    /// - Parameter codec: The store's codec. Rows that a codec of another format made are made
    ///   again, because that codec may have read more or fewer events. Rows that lack an event, or a
    ///   member of one, which this codec can read are also made again (L5, E11), and so are rows with
    ///   members that this code does not read (E12).
    /// - Returns: The attached projections, and the headers of outdated rows: rows of other
    ///   versions of these projections, rows that are made again, and the rest of any rows whose
    ///   removal was interrupted.
    /// - Throws: `.damaged`, `.newerFormat`, `.storage`.
    package func attached(
        _ projections: ProjectionSet, codec: any PayloadCodec
    ) throws(LogError) -> (projections: ProjectionSet, outdated: [StoredRowsHeader]) {
        guard !projections.rows.isEmpty else { return (projections, []) }
        let headers = try storedRows()
        let format = codec.format ?? .none
        var fresh = FreshNumbers(after: headers)
        let projections = try projections.withRows { _, fold throws(LogError) in
            // Take the last header: old rows stay until their replacements are complete.
            let header = headers.last {
                $0.identity == fold.identity && $0.schema == fold.schema.schema.summary
                    && $0.format == format
            }
            let schema = fold.schema.schema
            let faults =
                try header.map { h throws(LogError) in try self.faults(of: h.number) } ?? []
            let notes = RowNotes(
                schema, try header.map { h throws(LogError) in try self.notes(of: h.number) } ?? [])
            if let header, header.hasNotes || !codec.notesMembers, notes.fit(codec),
                try haveSamples(notes, of: header.number), try !canReadMore(than: faults, codec)
            {
                fold.attach(
                    to: self, number: header.number, format: format, sequence: header.sequence,
                    faults: faults, notes: notes, notesMembers: codec.notesMembers)
            } else {
                fold.attach(
                    to: self, number: try fresh.next(in: self), format: format, sequence: 0,
                    faults: [], notesMembers: codec.notesMembers)
            }
        }
        let attached = projections.rows
        let used = Set(attached.map(\.schema.number))
        let names = Set(attached.map(\.identity.name))
        let outdated = headers.filter {
            !used.contains($0.number) && (names.contains($0.identity.name) || $0.isDropped)
        }
        return (projections, outdated)
    }

    /// Returns whether each table whose rows should have samples has one, or has no rows. Other code
    /// made rows without samples.
    private func haveSamples(_ notes: RowNotes, of number: UInt32) throws(LogError) -> Bool {
        for place in notes.placesWithoutSamples {
            let prefix = StoredRow.prefix(of: number) + [UInt8(place >> 8), UInt8(place & 0xFF)]
            let rows = try rowKeys(in: KeySpan(prefix: prefix), countMax: 1)
            guard rows.isEmpty else { return false }
        }
        return true
    }

    /// Returns whether the codec can now read an event that is a fault because it was unreadable.
    /// That is the case if an entry has fewer unreadable new events of an origin than there are
    /// such faults. Events that were delivered again are no faults of the entry.
    ///
    /// - Complexity: Reads the entries of such faults; reads nothing if there are none. If an entry
    ///   has several events of one origin, also reads the entries from the checkpoint before it.
    private func canReadMore(
        than faults: [Fault], _ codec: any PayloadCodec
    ) throws(LogError) -> Bool {
        let unreadable = faults.filter(\.isUnreadable)
        // What was removed cannot be read again, so the base decides (C6).
        if unreadable.contains(where: { $0.sequence <= baseSequence }) { return true }
        for (sequence, faults) in Dictionary(grouping: unreadable, by: \.sequence) {
            var left: [EventContext.Origin: Int] = [:]
            var events = try confirmed(by: sequence, codec: RawCodec())
            if Set(events.map(\.context.origin)).count < events.count {
                let through = try through(before: sequence)
                events = try confirmed(
                    by: sequence, after: through, codec: RawCodec())
            }
            for confirmed in events
            where !codec.canRead(confirmed.payload.bytes, format: confirmed.payload.format) {
                left[confirmed.context.origin, default: 0] += 1
            }
            for (origin, faults) in Dictionary(grouping: faults, by: \.origin)
            where left[origin, default: 0] < faults.count { return true }
        }
        return false
    }

    /// Returns the highest position that the entries before an entry confirmed.
    ///
    /// - Complexity: Reads the entries from the nearest checkpoint before the entry, or from the
    ///   first entry.
    private func through(before sequence: LogSequence) throws(LogError) -> Position {
        let last = LogSequence(sequence.value - 1)
        var through: Position = 0
        var start: LogSequence = 0
        let checkpoint = try checkpointSequences(upTo: last).last
        do throws(CheckpointRefusal) {
            if let checkpoint, let manifest = try checkpointManifest(at: checkpoint) {
                through = try checkpointedLog(of: manifest, codec: RawCodec()).through
                start = checkpoint
            }
        } catch {
            // A checkpoint that cannot be read is not used.
        }
        var records = RecordReader(self, after: start, upTo: last)
        while let (sequence, bytes) = try records.next() {
            if case .confirmed(let batch) = try entry(bytes, at: sequence, codec: RawCodec()) {
                through = max(through, batch.through)
            }
        }
        return through
    }
}

/// Numbers that neither a header nor a row has. A row without a header would look like a row of the
/// new projection. The rows are read only when the first number is requested.
private struct FreshNumbers {
    private var last: UInt32
    private var used: Set<UInt32>?

    init(after headers: [StoredRowsHeader]) { last = headers.map(\.number).max() ?? 0 }

    mutating func next(in storage: any LogStorage) throws(LogError) -> UInt32 {
        let used: Set<UInt32>
        if let known = self.used { used = known } else { used = Set(try storage.rowNumbers()) }
        self.used = used
        repeat {
            guard last < .max else {
                throw .damaged(
                    path: storage.path, sequence: nil,
                    reason: "stored projections have no number left")
            }
            last += 1
        } while used.contains(last)
        return last
    }
}
