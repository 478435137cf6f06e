import FoldbackLMDB
import Synchronization

extension LMDBLog {
    // MARK: Writing

    /// - Parameter rows: in order of key: neighbours lie on one page.
    func write(
        _ rows: [(key: KeyBytes, bytes: [UInt8]?)],
        _ projections: [(number: UInt32, bytes: [UInt8]?)],
        _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        guard let table = tables.rows, let headers = tables.projections else { return }
        for (key, bytes) in rows {
            if let bytes {
                try transaction.put(bytes, at: key, in: table)
            } else {
                _ = try transaction.delete(key, from: table)
            }
        }
        for (number, bytes) in projections {
            if let bytes {
                try transaction.put(bytes, at: UInt64(number), in: headers)
            } else {
                _ = try transaction.delete(UInt64(number), from: headers)
            }
        }
    }

    package func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]? {
        guard let rows = try rowsForWriting() else { return nil }
        return try rows.bytes(at: key).map { [UInt8]($0) }
    }

    package func rowKeysForWriting(
        in span: KeySpan
    ) throws(FoldbackError) -> [KeyBytes] {
        guard let rows = try rowsForWriting() else { return [] }
        var keys: [KeyBytes] = []
        do throws(LMDBError) {
            try withBytes(of: span.lower.bytes) { start throws(LMDBError) in
                try rows.table.scan(from: start) { key, _ in
                    let key = KeyBytes(Array(key))
                    guard span.contains(key) else { return false }
                    keys.append(key)
                    return true
                }
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
        return keys
    }

    private func rowsForWriting() throws(FoldbackError) -> LMDBRows? {
        guard let table = tables.rows else { return nil }
        if let session = session.withLock({ $0 }) {
            return LMDBRows(table: session.table, path: path)
        }
        do throws(LMDBError) {
            let begun = try environment.session(table)
            session.withLock { $0 = begun }
            return LMDBRows(table: begun.table, path: path)
        } catch {
            throw FoldbackError(error, at: path)
        }
    }

    package func endReadingForWriting() {
        let ended = session.withLock { session in
            defer { session = nil }
            return session
        }
        ended?.end()
    }

    // MARK: Reading

    package func readRows<R>(_ body: (any StoredRows) throws -> R) throws -> R {
        try requireUsable()
        var result: Result<R, any Error>?
        do throws(LMDBError) {
            try environment.read { transaction throws(LMDBError) in
                let last = try transaction.lastKey(of: tables.entries)
                let rows = StoredSnapshot(
                    rows: try tables.rows.map { rows throws(LMDBError) in
                        LMDBRows(table: try transaction.opened(rows), path: path)
                    },
                    headers: try tables.projections.map { headers throws(LMDBError) in
                        try transaction.opened(headers)
                    },
                    path: path, sequence: LogSequence(last ?? 0))
                result = Result { try body(rows) }
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
        guard let result else { preconditionFailure("a read ended without a result") }
        return try result.get()
    }

    package func rowKeys(
        in span: KeySpan, countMax: Int
    ) throws(FoldbackError) -> [KeyBytes] {
        guard let table = tables.rows else { return [] }
        do throws(LMDBError) {
            return try environment.read { transaction throws(LMDBError) in
                var keys: [KeyBytes] = []
                try transaction.scan(table, from: span.lower) { key, _ in
                    guard span.contains(key) else { return false }
                    keys.append(key)
                    return keys.count < countMax
                }
                return keys
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }

    package func projectionHeaders()
        throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]
    {
        guard let table = tables.projections else { return [] }
        do throws(LMDBError) {
            return try environment.read { transaction throws(LMDBError) in
                var headers: [(number: UInt32, bytes: [UInt8])] = []
                try transaction.scan(table) { number, bytes in
                    headers.append((UInt32(clamping: number), Array(copying: bytes)))
                    return true
                }
                return headers
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }
}

/// The rows of stored projections at one commit; stands while its transaction does.
private final class StoredSnapshot: StoredRows {
    private let rows: LMDBRows?
    private let headers: TableRead?
    private let path: String
    let sequence: LogSequence

    init(rows: LMDBRows?, headers: TableRead?, path: String, sequence: LogSequence) {
        self.rows = rows
        self.headers = headers
        self.path = path
        self.sequence = sequence
    }

    func value(at key: KeyBytes) throws -> FoundRow? {
        try rows?.bytes(at: key).map { .file($0) }
    }

    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws { try rows?.scan(span, backwards: backwards, body) }

    func firstKey(from start: KeyBytes) throws -> KeyBytes? { try rows?.firstKey(from: start) }

    func header(of number: UInt32) throws -> [UInt8]? {
        do throws(LMDBError) {
            return try UInt64(number).withKeyBytes { key throws(LMDBError) in
                try headers?.value(at: key).map { [UInt8]($0) }
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }
}

/// The rows of one commit, checked against their checksums.
private final class LMDBRows {
    let table: TableRead
    private let path: String

    init(table: TableRead, path: String) {
        self.table = table
        self.path = path
    }

    /// The row's bytes, which are the file's; nil: there is none.
    func bytes(at key: KeyBytes) throws(FoldbackError) -> UnsafeRawBufferPointer? {
        let found: UnsafeRawBufferPointer?
        do throws(LMDBError) {
            found = try withBytes(of: key.bytes) { key throws(LMDBError) in
                try table.value(at: key)
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
        guard let sealed = found else { return nil }
        let count = try length(of: sealed.bytes, at: key)
        return UnsafeRawBufferPointer(rebasing: sealed[..<count])
    }

    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        var failure: (any Error)?
        func visit(_ key: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer) -> Bool {
            let key = KeyBytes(Array(key))
            guard span.contains(key) else { return false }
            do {
                let count = try length(of: sealed.bytes, at: key)
                return try body(key, sealed.bytes.extracting(first: count))
            } catch {
                failure = error
                return false
            }
        }
        do throws(LMDBError) {
            switch (backwards, span.upper) {
            case (false, _):
                try withBytes(of: span.lower.bytes) { start throws(LMDBError) in
                    try table.scan(from: start, visit)
                }
            case (true, let end?):
                try withBytes(of: end.bytes) { end throws(LMDBError) in
                    try table.scanBackwards(before: end, visit)
                }
            case (true, nil): try table.scanBackwards(before: nil, visit)
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
        if let failure { throw failure }
    }

    func firstKey(from start: KeyBytes) throws(FoldbackError) -> KeyBytes? {
        var first: KeyBytes?
        do throws(LMDBError) {
            try withBytes(of: start.bytes) { start throws(LMDBError) in
                try table.scan(from: start) { key, _ in
                    first = KeyBytes(Array(key))
                    return false
                }
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
        return first
    }

    private func length(
        of sealed: RawSpan, at key: KeyBytes
    ) throws(FoldbackError) -> Int {
        do throws(FormatError) { return try StoredRow.opened(sealed, at: key) } catch {
            throw FoldbackError(error, at: path, row: key)
        }
    }
}

extension KeyBytes: TableKey {
    package func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withBytes(of: bytes, body)
    }

    package init?(keyBytes: UnsafeRawBufferPointer) { self.init(Array(keyBytes)) }
}

extension FoldbackError {
    init(_ error: FormatError, at path: String, row key: KeyBytes) {
        // Part of what is said, and not of the path, so that it is there wherever reasons are shown.
        let row = "row \(key.bytes.hexadecimal)"
        switch error {
        case .damaged(let what):
            self = .damaged(path: path, sequence: nil, reason: "\(row): \(what)")
        case .newer(let found):
            self = .newerFormat(path: path, sequence: nil, found: "\(row): \(found)")
        }
    }
}
