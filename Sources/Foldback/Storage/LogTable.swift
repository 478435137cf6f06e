import FoldbackCollections

/// The tables of a log. Their values are bytes; the folder Tables has one file for each table, which
/// gives them a meaning.
package enum LogTable: Int, CaseIterable, Sendable {
    /// Maps a sequence to a record. Writes only append here: a key must be higher than the last key
    /// (L1).
    case entries
    /// Maps an intent number to a settlement.
    case verdicts
    /// Maps an intent number to an attempt.
    case attempts
    /// Maps a sequence, a section and a piece number to a piece of a checkpoint.
    case checkpoints
    /// Maps the number of a stored projection to its header.
    case projections
    /// Maps the number of a stored projection, a place in its schema and a key to a row.
    case rows
    /// Maps a number to a projection with which the log was opened.
    case registered
    /// Maps a sequence to a record that is not in `entries` any more (C4).
    case kept
    /// Maps a sequence to the conflicts that began or ended with this entry.
    case conflicts
    /// Maps a name to one fact about the whole log: the authority's lineage, and which projections
    /// share their conflicts. The header is here too, and the storage itself reads and writes it.
    case log

    /// The length of each key, in bytes; nil if keys may have any length.
    var keyBytes: Int? {
        switch self {
        case .entries, .verdicts, .attempts, .projections, .registered, .kept, .conflicts: 8
        case .checkpoints: 14
        case .rows, .log: nil
        }
    }

    /// The names of the tables whose pages a store checks after opening, if it reads no rows.
    ///
    /// No read before the check can take an old page of them for the present page and give a wrong
    /// answer:
    /// - entries never change, and are counted and chained: an old page lacks an entry;
    /// - each piece of a checkpoint names its place, and the manifest has a digest of each section:
    ///   an old page lacks a piece, or has a complete earlier checkpoint, which is as good;
    /// - a read of a settlement waits for the check (``StoreCore/status(of:)``), and so do decisions
    ///   on commands. Opening and past views use only the entry that a verdict's row names, which is
    ///   the same in each version of the row. `verify` compares;
    /// - rows are not read.
    package static var checkedAfterOpening: Set<String> {
        Set([entries, verdicts, checkpoints, rows].map(\.name))
    }

    /// The table's name in the file. It is part of the file format and must not change.
    var name: String {
        switch self {
        case .entries: "entries"
        case .verdicts: "verdicts"
        case .attempts: "attempts"
        case .checkpoints: "checkpoints"
        case .projections: "projections"
        case .rows: "rows"
        case .registered: "registered"
        case .kept: "kept"
        case .conflicts: "conflicts"
        case .log: "log"
        }
    }
}

/// A key of a table. Numbers have their own case, so that they need no allocation. All keys of a
/// table have the same case.
package enum LogKey: Hashable, Sendable {
    /// 8 bytes, big-endian.
    case number(UInt64)
    case bytes(KeyBytes)

    package init(_ number: some LogNumber) { self = .number(number.value) }

    /// The number.
    ///
    /// - Precondition: The key belongs to a table whose keys are numbers.
    package var number: UInt64 {
        guard case .number(let number) = self else {
            preconditionFailure("key \(self) is not a number")
        }
        return number
    }

    /// The bytes.
    ///
    /// - Precondition: The key belongs to a table whose keys are bytes.
    package var bytes: KeyBytes {
        guard case .bytes(let bytes) = self else { preconditionFailure("key \(self) is a number") }
        return bytes
    }

    package var byteCount: Int {
        switch self {
        case .number: 8
        case .bytes(let key): key.bytes.count
        }
    }
}

extension LogKey: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.bytes(let a), .bytes(let b)): a < b
        case (.number, .bytes): true
        case (.bytes, .number): false
        }
    }
}

extension LogKey: SortedKey {
    package static var chunkCountMax: Int { 32 }
}

/// The bytes of a value, in place. The type is not generic, so that the cost of finding a value
/// does not depend on the storage.
package enum FoundValue {
    case memory([UInt8])
    /// Bytes in the log's file, valid as long as the read.
    case file(UnsafeRawBufferPointer)

    /// Calls `body` with the bytes. `body` must not keep them.
    package func withSpan<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        switch self {
        case .memory(let bytes): try body(bytes.span.bytes)
        case .file(let bytes): try body(bytes.bytes)
        }
    }

    /// A copy of the bytes, which the caller may keep.
    package var array: [UInt8] {
        switch self {
        case .memory(let bytes): bytes
        case .file(let bytes): [UInt8](bytes)
        }
    }

    /// Returns the first `count` bytes.
    func prefix(_ count: Int) -> FoundValue {
        switch self {
        case .memory(let bytes): .memory(Array(bytes[..<count]))
        case .file(let bytes): .file(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}

/// One write of a transaction, to one key.
package struct TableWrite: Sendable {
    package let table: LogTable
    package let key: LogKey
    /// The new value; nil removes the key if it exists.
    package let value: [UInt8]?

    package init(_ table: LogTable, _ key: LogKey, _ value: [UInt8]?) {
        self.table = table
        self.key = key
        self.value = value
    }

    /// An estimate of the space that a write needs in addition to its value, in bytes, if its key
    /// is a number.
    static let overheadBytes = 72

    /// An estimate of the space that the write needs, in bytes.
    var reserveBytes: Int { key.byteCount - 8 + (value?.count ?? 0) + Self.overheadBytes }
}

extension [UInt8] {
    package init(copying bytes: RawSpan) {
        self = bytes.withUnsafeBytes { Array($0) }
    }
}
