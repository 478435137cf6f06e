extension Verifier {
    /// Checks every row against its checksum, and the rows of folded projections against their
    /// fold.
    mutating func checkRows() throws(LogError) {
        var stored: [(number: UInt32, bytes: [UInt8])] = []
        var headers: [StoredRowsHeader] = []
        try noting { verifier throws(LogError) in
            stored = try verifier.storage.projectionHeaders()
        }
        for (number, bytes) in stored {
            do throws(FormatError) {
                headers.append(try StoredRowsHeader(decoding: bytes, of: number))
            } catch {
                find(.rows(projection: "stored projection \(number)"), "\(error)")
            }
        }
        for header in headers {
            do throws(LogError) { try check(header) } catch {
                guard case .damaged(_, _, let reason) = error else { throw error }
                find(.rows(projection: header.identity.name.string), reason)
            }
        }
    }

    private mutating func check(_ header: StoredRowsHeader) throws(LogError) {
        let fold = fold.rows.first {
            $0.identity == header.identity && $0.schema.schema.summary == header.schema
                && header.format == codec.format
        }
        let comparison: ComparedRows
        // Code that reads other members made other rows.
        let notes = try fold.map { fold throws(LogError) in
            RowNotes(fold.schema.schema, try storage.notes(of: header.number))
        }
        if let fold, isWhole, notes?.fit(codec) == true {
            comparison = try compare(header, with: fold)
        } else {
            try storage.requireReadableRows(of: header.number)
            // Rows that are being removed do not belong to a projection any more.
            comparison = header.isDropped ? .same : .unknown
        }
        switch comparison {
        case .same: break
        case .different(let flaw): find(.rows(projection: header.identity.name.string), flaw)
        case .unknown: notCompared.insert(header.identity.name.string)
        }
    }

    /// Checks that the number of each row has a header.
    mutating func checkRowsWithoutHeader() throws(LogError) {
        for number in try storage.rowNumbersWithoutHeader() {
            find(.rows(projection: "stored projection \(number)"), "it has rows but no header")
        }
    }

    private enum ComparedRows {
        case same
        case different(String)
        case unknown
    }

    /// Checks that folding the entries yields exactly these rows. If no store has the projection
    /// open, its rows are at the entry at which it was closed.
    ///
    /// Entries are never read inside a read of rows, because that read could not follow a file that
    /// another process makes larger. The rows are therefore read when the fold is at their entry.
    /// If a store has written in between, they are read again.
    private func compare(
        _ header: StoredRowsHeader, with rows: RowFold
    ) throws(LogError) -> ComparedRows {
        guard header.sequence <= LogSequence(UInt64(try storage.recordCount())) else {
            return .different("its rows are at entry \(header.sequence), after the last entry")
        }
        var fold = fold
        if header.sequence < fold.state.sequence {
            let alone = projections.members.filter { $0.isStored && $0.identity == rows.identity }
            fold = try .beginning(of: storage, ProjectionSet(members: alone), codec: codec)
        }
        var sequence = header.sequence
        for _ in 1...Limits.verifyAttemptsMax {
            try fold.replay(storage, codec: codec, upTo: sequence)
            guard let rows = fold.rows.first(where: { $0.identity == rows.identity }) else {
                preconditionFailure("\(rows.identity) is missing from the fold")
            }
            let standing = try compare(header.number, with: rows, at: fold.state.sequence)
            switch standing {
            case .at(let later): sequence = later
            case .compared(let flaw): return flaw.map { .different($0) } ?? .same
            case .incomparable: return .unknown
            }
        }
        return .unknown
    }

    private enum RowsCheck {
        /// The rows are at this entry, and the fold is at another entry.
        case at(LogSequence)
        /// The rows were compared; nil if they have no flaw.
        case compared(flaw: String?)
        /// Code that read other events made the rows.
        case incomparable
    }

    private func compare(
        _ number: UInt32, with rows: RowFold, at sequence: LogSequence
    ) throws(LogError) -> RowsCheck {
        do {
            return try storage.readRows { stored -> RowsCheck in
                // A store that was opened in the meantime has removed the rows.
                guard let bytes = try stored.header(of: number) else { return .compared(flaw: nil) }
                let header = try StoredRowsHeader(decoding: bytes, of: number)
                guard header.sequence == sequence else { return .at(header.sequence) }
                guard try Self.unread(in: stored, number) == rows.faults.unread else {
                    return .incomparable
                }
                return .compared(
                    flaw: try Self.flaw(in: stored, number, comparedWith: rows))
            }
        } catch {
            throw LogError(reading: error, at: storage.path)
        }
    }

    /// Returns the faults of stored rows that are unreadable events, in the order of folding.
    private static func unread(in stored: StoredRows, _ number: UInt32) throws -> [Fault] {
        var unread: [Fault] = []
        let span = KeySpan(prefix: StoredRow.faultPrefix(number))
        try stored.scan(span, backwards: false) { _, bytes in
            unread += [try Fault(decoding: [UInt8](copying: bytes))].unread
            return true
        }
        return unread
    }

    private static func flaw(
        in stored: StoredRows, _ number: UInt32, comparedWith fold: RowFold
    ) throws -> String? {
        let prefix = StoredRow.prefix(of: number)
        var expected = fold.confirmed.rows.makeIterator()
        var faults = fold.faults.makeIterator()
        var flaw: String?
        try stored.scan(KeySpan(prefix: prefix), backwards: false) { key, bytes in
            let found = [UInt8](copying: bytes)
            // Folding the entries makes no notes.
            if key.hasPrefix(StoredRow.notePrefix(number)) { return true }
            if key.hasPrefix(StoredRow.faultPrefix(number)) {
                let fault = try Fault(decoding: found)
                let next = faults.next()
                if next?.sequence != fault.sequence || next?.origin != fault.origin {
                    flaw = "it has a fault that folding the entries does not produce"
                }
                return flaw == nil
            }
            let next = expected.next()
            if next?.key.bytes.dropFirst(prefix.count) != key.bytes.dropFirst(prefix.count)
                || next?.value != found
            {
                flaw =
                    "\(name(of: key, in: fold)) differs from the fold of the entries; "
                    + "if apply, an index or a codec was changed, give the projection another "
                    + "version; a codec must encode equal rows as equal bytes"
            }
            return flaw == nil
        }
        if flaw == nil, let (key, _) = expected.next() {
            flaw = "\(name(of: key, in: fold)) is missing"
        }
        if flaw == nil, faults.next() != nil { flaw = "a fault is missing" }
        return flaw
    }
}

extension Verifier {
    private static func name(of key: KeyBytes, in fold: RowFold) -> String {
        let place = key.bytes.dropFirst(StoredRow.prefixBytes)
        let space = fold.schema.schema.spaceName(ofKey: place) ?? "no table or index"
        return "row \(key.bytes.hexadecimal) of \(space)"
    }
}

extension [Fault] {
    /// The faults that are unreadable events, without their reasons. An entry may have several of
    /// one origin.
    fileprivate var unread: [Fault] {
        filter(\.isUnreadable)
            .map { Fault(sequence: $0.sequence, origin: $0.origin, reason: "") }
    }
}

extension FoldedRows {
    /// Returns whether the rows lack the same unreadable events.
    func lacksSame(as other: FoldedRows) -> Bool { faults.unread == other.faults.unread }

    /// Returns whether the rows and the conflicts of the overlay are the same. Ignores the log's
    /// number of the stored projection.
    func overlaySame(as other: FoldedRows) -> Bool {
        conflicted.keys == other.conflicted.keys
            && visible.elementsEqual(other.visible) {
                $0.key.dropFirst(StoredRow.prefixBytes) == $1.key.dropFirst(StoredRow.prefixBytes)
                    && $0.value == $1.value
            }
    }

    private var visible: [(key: [UInt8], value: RowValue)] {
        chains.compactMap { key, chain in chain.visible.map { (key.bytes, $0) } }
    }
}
