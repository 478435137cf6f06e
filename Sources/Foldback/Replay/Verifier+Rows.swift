extension Verifier {
    /// Every row against its checksum, and those of projections that were folded against their fold.
    mutating func checkRows() throws(FoldbackError) {
        var stored: [(number: UInt32, bytes: [UInt8])] = []
        var headers: [StoredRowsHeader] = []
        try noting { verifier throws(FoldbackError) in
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
            let fold = fold.rows.first {
                $0.identity == header.identity && $0.schema.schema.summary == header.schema
            }
            let place = Verification.Place.rows(projection: header.identity.name.string)
            do throws(FoldbackError) {
                let flaw =
                    if let fold, isWhole { try compare(header, with: fold) } else {
                        try read(header)
                    }
                if let flaw { find(place, flaw) }
            } catch {
                guard case .damaged(_, _, let reason) = error else { throw error }
                find(place, reason)
            }
        }
    }

    /// Each row can be read.
    private func read(_ header: StoredRowsHeader) throws(FoldbackError) -> String? {
        do {
            try storage.readRows { rows in
                let span = KeySpan(prefix: StoredRow.prefix(of: header.number))
                try rows.scan(span, backwards: false) { _, _ in true }
            }
            return nil
        } catch {
            throw FoldbackError(reading: error, at: storage.path)
        }
    }

    /// Each row is what folding the entries gives, and there are no others. Rows whose projection is not
    /// open stand where it was closed.
    private func compare(
        _ header: StoredRowsHeader, with rows: RowFold
    ) throws(FoldbackError) -> String? {
        guard header.sequence <= LogSequence(UInt64(try storage.recordCount())) else {
            return "they stand at entry \(header.sequence), beyond the last"
        }
        var fold = fold
        if header.sequence < fold.state.sequence {
            fold = LogFold(of: storage, folds: [], rows: [rows.fresh])
        }
        // Most of it before the read begins, which keeps pages from being used again.
        try fold.replay(storage, codec: codec, upTo: header.sequence)
        do {
            return try storage.readRows { stored -> String? in
                guard let bytes = try stored.header(of: header.number) else { return nil }
                // A store may have gone on meanwhile.
                let sequence = try StoredRowsHeader(decoding: bytes, of: header.number).sequence
                try fold.replay(storage, codec: codec, upTo: sequence)
                guard let rows = fold.rows.first(where: { $0.identity == rows.identity }) else {
                    return nil
                }
                return try Self.flaw(in: stored, header.number, comparedWith: rows)
            }
        } catch {
            throw FoldbackError(reading: error, at: storage.path)
        }
    }

    private static func flaw(
        in stored: any StoredRows, _ number: UInt32, comparedWith fold: RowFold
    ) throws -> String? {
        let prefix = StoredRow.prefix(of: number)
        var expected = fold.confirmed.rows.makeIterator()
        var faults = fold.faults.makeIterator()
        var flaw: String?
        try stored.scan(KeySpan(prefix: prefix), backwards: false) { key, bytes in
            let found = [UInt8](copying: bytes)
            if key.hasPrefix(StoredRow.faultPrefix(number)) {
                let fault = try Fault(decoding: found)
                let next = faults.next()
                if next?.sequence != fault.sequence || next?.origin != fault.origin {
                    flaw = "it has a fault that folding the entries does not give"
                }
                return flaw == nil
            }
            let next = expected.next()
            if next?.key.bytes.dropFirst(prefix.count) != key.bytes.dropFirst(prefix.count)
                || next?.value != found
            {
                flaw =
                    "a row is not what folding the entries gives; if apply, an index or a codec was "
                    + "changed, give the projection another version; a codec has to give equal rows "
                    + "equal bytes"
            }
            return flaw == nil
        }
        if flaw == nil, expected.next() != nil { flaw = "a row is missing" }
        if flaw == nil, faults.next() != nil { flaw = "a fault is missing" }
        return flaw
    }
}

extension FoldedRows {
    /// Whether the overlay makes the same of rows; the number that the log has for them aside.
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
