/// The confirmed rows of stored projections at one commit, valid during one read. Each read of a
/// row verifies the row's checksum (L5).
package final class StoredRows {
    /// The last entry's sequence.
    package let sequence: LogSequence
    private let rows: SealedRows
    private let headers: any StorageTable

    fileprivate init(_ snapshot: any StorageSnapshot, at path: String) throws(FoldbackError) {
        sequence = try snapshot.lastSequence()
        rows = SealedRows(table: try snapshot.open(.rows), path: path)
        headers = try snapshot.open(.projections)
    }

    /// Creates an empty set of rows, for a projection that holds its rows itself.
    package init(emptyAt sequence: LogSequence) {
        self.sequence = sequence
        rows = SealedRows(table: MemoryTable(), path: "")
        headers = MemoryTable()
    }

    /// Returns the row's bytes, without the checksum; nil if the row does not exist.
    package func value(at key: KeyBytes) throws(FoldbackError) -> FoundValue? {
        try rows.value(at: key)
    }

    /// Calls `body` with the rows of `span` in key order, or in reverse, until it returns false.
    package func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws { try rows.scan(span, backwards: backwards, body) }

    /// Returns the numbers of stored projections that have rows, with or without a header,
    /// ascending.
    ///
    /// - Throws: `FormatError.damaged` if a key is not a row's key; `FoldbackError` if the read
    ///   fails.
    /// - Complexity: O(log n) in rows for each number.
    package func numbers() throws -> [UInt32] {
        var numbers: [UInt32] = []
        var start = KeyBytes([])
        while let key = try rows.firstKey(from: start) {
            guard let number = StoredRow.number(of: key) else {
                throw FormatError.damaged("a row's key has \(key.bytes.count) bytes")
            }
            numbers.append(number)
            guard number < .max else { break }
            start = KeyBytes(StoredRow.prefix(of: number + 1))
        }
        return numbers
    }

    /// Returns a stored projection's row of table `projections`, not verified; nil if there is
    /// none.
    package func header(of number: UInt32) throws(FoldbackError) -> [UInt8]? {
        try headers.get(.number(UInt64(number)))?.array
    }
}

extension LogStorage {
    /// Calls `body` with the confirmed rows of the last commit. `body` must be short (L8).
    package func readRows<R>(_ body: (StoredRows) throws -> R) throws -> R {
        try requireUsable()
        return try reading { snapshot throws in
            try body(try StoredRows(snapshot, at: path))
        }.get()
    }

    /// Returns the first `countMax` keys of `span` at most, including the keys of damaged rows.
    package func rowKeys(
        in span: KeySpan, countMax: Int
    ) throws(FoldbackError) -> [KeyBytes] {
        try reading(.rows) { table throws(FoldbackError) in
            try table.keys(in: span, countMax: countMax)
        }
    }

    // MARK: For the writer

    /// Returns the confirmed row at `key` in the last commit; nil if there is none. The writer
    /// reads the same commit until ``endReadingForWriting()``.
    package func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]? {
        try SealedRows(table: try openForWriting(.rows), path: path).value(at: key)?.array
    }

    /// Returns the keys of `span`, in order, in the commit that ``rowForWriting(at:)`` reads.
    package func rowKeysForWriting(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
        try openForWriting(.rows).keys(in: span, countMax: .max)
    }
}

extension StorageTable {
    fileprivate func keys(in span: KeySpan, countMax: Int) throws(FoldbackError) -> [KeyBytes] {
        var keys: [KeyBytes] = []
        try scan(.forwards(from: .bytes(span.lower))) { key, _ in
            guard span.contains(key.bytes) else { return false }
            keys.append(key.bytes)
            return keys.count < countMax
        }
        return keys
    }
}

/// Table `rows`, whose values end with checksums. Reads verify and remove the checksum.
private struct SealedRows {
    let table: any StorageTable
    let path: String

    /// Returns the row's bytes, without the checksum; nil if there is none.
    func value(at key: KeyBytes) throws(FoldbackError) -> FoundValue? {
        guard let sealed = try table.get(.bytes(key)) else { return nil }
        return sealed.prefix(try length(of: sealed, at: key))
    }

    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        var failure: (any Error)?
        let range: ScanRange =
            backwards
            ? .backwards(before: span.upper.map { .bytes($0) })
            : .forwards(from: .bytes(span.lower))
        try table.scan(range) { key, sealed in
            let key = key.bytes
            guard span.contains(key) else { return false }
            do {
                let count = try length(of: sealed, at: key)
                return try sealed.withSpan { try body(key, $0.extracting(first: count)) }
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Returns the first key that is not before `start`, even if its row is damaged; nil if there
    /// is none.
    func firstKey(from start: KeyBytes) throws(FoldbackError) -> KeyBytes? {
        var first: KeyBytes?
        try table.scan(.forwards(from: .bytes(start))) { key, _ in
            first = key.bytes
            return false
        }
        return first
    }

    /// Verifies the checksum, and returns the number of bytes before it.
    private func length(of sealed: FoundValue, at key: KeyBytes) throws(FoldbackError) -> Int {
        do throws(FormatError) {
            return try sealed.withSpan { span throws(FormatError) in
                try StoredRow.opened(span, at: key)
            }
        } catch {
            throw FoldbackError(error, at: path, row: key)
        }
    }
}

extension FoldbackError {
    fileprivate init(_ error: FormatError, at path: String, row key: KeyBytes) {
        // The reason names the row, not the path, so that every place that shows reasons shows the
        // row.
        let row = "row \(key.bytes.hexadecimal)"
        switch error {
        case .damaged(let what):
            self = .damaged(path: path, sequence: nil, reason: "\(row): \(what)")
        case .newer(let found):
            self = .newerFormat(path: path, sequence: nil, found: "\(row): \(found)")
        }
    }
}
