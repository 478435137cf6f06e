/// The confirmed rows of stored projections at one commit, while it is being read. Each row that is read is
/// checked against its checksum (L5).
package final class StoredRows {
    /// Of the last entry.
    package let sequence: LogSequence
    private let rows: SealedRows
    private let headers: any StorageTable

    fileprivate init(_ snapshot: any StorageSnapshot, at path: String) throws(FoldbackError) {
        sequence = try snapshot.lastSequence()
        rows = SealedRows(table: try snapshot.open(.rows), path: path)
        headers = try snapshot.open(.projections)
    }

    /// No rows, as where a projection has its own.
    package init(emptyAt sequence: LogSequence) {
        self.sequence = sequence
        rows = SealedRows(table: MemoryTable(), path: "")
        headers = MemoryTable()
    }

    /// The row's bytes; nil if there is none.
    package func value(at key: KeyBytes) throws(FoldbackError) -> FoundValue? {
        try rows.value(at: key)
    }

    /// Calls `body` with the rows of `span` in order of key, or backwards, until it returns false.
    package func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws { try rows.scan(span, backwards: backwards, body) }

    /// The numbers under which there are rows, with a header or without, ascending.
    ///
    /// - Complexity: O(log n) in rows for each.
    /// - Throws: also where a key is not a row's.
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

    /// A projection's row of table `projections`.
    package func header(of number: UInt32) throws(FoldbackError) -> [UInt8]? {
        try headers.get(.number(UInt64(number)))?.array
    }
}

extension LogStorage {
    /// Calls `body` with the confirmed rows of the last commit. Keep it short (L8).
    package func readRows<R>(_ body: (StoredRows) throws -> R) throws -> R {
        try requireUsable()
        return try reading { snapshot throws in
            try body(try StoredRows(snapshot, at: path))
        }.get()
    }

    /// The keys of `span`, including those of damaged rows, at most `countMax`.
    package func rowKeys(
        in span: KeySpan, countMax: Int
    ) throws(FoldbackError) -> [KeyBytes] {
        try reading(.rows) { table throws(FoldbackError) in
            try table.keys(in: span, countMax: countMax)
        }
    }

    // MARK: For the writer

    /// The confirmed row at `key` as the last commit has it; nil if there is none. What the writer reads is one
    /// commit until ``endReadingForWriting()``.
    package func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]? {
        try SealedRows(table: try openForWriting(.rows), path: path).value(at: key)?.array
    }

    /// The keys of `span` in the same commit, in order.
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

/// Table `rows`, whose values end with checksums.
private struct SealedRows {
    let table: any StorageTable
    let path: String

    /// The row's bytes without the checksum; nil if there is none.
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

    /// The first key that is not before `start`, whether its row can be read or not; nil if there is none.
    func firstKey(from start: KeyBytes) throws(FoldbackError) -> KeyBytes? {
        var first: KeyBytes?
        try table.scan(.forwards(from: .bytes(start))) { key, _ in
            first = key.bytes
            return false
        }
        return first
    }

    /// How many of the bytes are the row's.
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
        // The row is a part of the reason, and not of the path, so that it is shown wherever reasons are.
        let row = "row \(key.bytes.hexadecimal)"
        switch error {
        case .damaged(let what):
            self = .damaged(path: path, sequence: nil, reason: "\(row): \(what)")
        case .newer(let found):
            self = .newerFormat(path: path, sequence: nil, found: "\(row): \(found)")
        }
    }
}
