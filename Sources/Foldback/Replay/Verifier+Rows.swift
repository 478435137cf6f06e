extension Verifier {
    /// Every row against its checksum, and those of projections that were folded against their fold.
    mutating func checkRows() throws(FoldbackError) {
        var headers: [StoredRowsHeader] = []
        var stored: [(number: UInt32, bytes: [UInt8])] = []
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
            try noting { verifier throws(FoldbackError) in
                if let fold, verifier.isWhole {
                    try verifier.compare(header, with: fold.identity)
                } else {
                    try verifier.read(header)
                }
            }
        }
    }

    /// Each row can be read.
    private mutating func read(_ header: StoredRowsHeader) throws(FoldbackError) {
        do {
            try storage.readRows { rows in
                let span = KeySpan(prefix: StoredRow.prefix(of: header.number))
                try rows.scan(span, backwards: false) { _, _ in true }
            }
        } catch {
            find(.rows(projection: header.identity.name.string), "\(error)")
        }
    }

    /// Each row is what folding the entries gives, and there are no others.
    private mutating func compare(
        _ header: StoredRowsHeader, with identity: ProjectionIdentity
    ) throws(FoldbackError) {
        let place = Verification.Place.rows(projection: identity.name.string)
        var fold = fold
        do {
            let flaw = try storage.readRows { stored -> String? in
                // A store may have gone on meanwhile.
                if fold.state.sequence < stored.sequence {
                    try fold.replay(storage, codec: codec, upTo: stored.sequence)
                }
                guard let rows = fold.rows.first(where: { $0.identity == identity }) else {
                    return nil
                }
                return try Self.flaw(in: stored, header, comparedWith: rows)
            }
            if let flaw { find(place, flaw) }
        } catch {
            find(place, "\(error)")
        }
    }

    private static func flaw(
        in stored: any StoredRows, _ header: StoredRowsHeader, comparedWith fold: RowFold
    ) throws -> String? {
        let prefix = StoredRow.prefix(of: header.number)
        var expected = fold.confirmed.rows.makeIterator()
        var faults = fold.faults.map { Fault(sequence: $0.sequence, origin: $0.origin, reason: "") }
        var flaw: String?
        try stored.scan(KeySpan(prefix: prefix), backwards: false) { key, bytes in
            let found = [UInt8](copying: bytes)
            if key.hasPrefix(StoredRow.faultPrefix(header.number)) {
                let fault = try Fault(decoding: found)
                let next = faults.isEmpty ? nil : faults.removeFirst()
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
                    "a row is not what folding the entries gives; if apply was changed, give the "
                    + "projection another version"
            }
            return flaw == nil
        }
        if flaw == nil, expected.next() != nil { flaw = "a row is missing" }
        if flaw == nil, !faults.isEmpty { flaw = "a fault is missing" }
        if flaw == nil, header.sequence > stored.sequence {
            flaw = "they stand at entry \(header.sequence), beyond the last"
        }
        return flaw
    }
}

extension FoldedRows {
    /// Whether the overlay makes the same of rows; the number that the log has for them aside.
    func overlaySame(as other: FoldedRows) -> Bool {
        conflicted.keys == other.conflicted.keys
            && visible.elementsEqual(other.visible) {
                $0.key.dropFirst(4) == $1.key.dropFirst(4) && $0.value == $1.value
            }
    }

    private var visible: [(key: [UInt8], value: RowValue)] {
        chains.compactMap { key, chain in chain.visible.map { (key.bytes, $0) } }
    }
}
