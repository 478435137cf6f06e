/// The tables of bytes that a log consists of. What their values mean is decided above the storage.
package enum LogTable: Int, CaseIterable, Sendable {
    /// Sequence to record. Only this table is appended to: a key must be higher than the last (L1).
    case entries
    /// Intent number to settlement.
    case verdicts
    /// Intent number to attempt.
    case attempts
    /// Sequence, section and piece to a piece of a checkpoint.
    case checkpoints
    /// Number of a stored projection to its header.
    case projections
    /// Number of a stored projection, place in the schema and key to a row.
    case rows

    /// The length of each key; nil if keys may have any length.
    var keyBytes: Int? {
        switch self {
        case .entries, .verdicts, .attempts, .projections: 8
        case .checkpoints: 14
        case .rows: nil
        }
    }

    var name: String { "\(self)" }
}

/// A key of a table, so that numbers cost no allocation. One table has keys of one case only.
package enum LogKey: Hashable, Sendable {
    /// 8 bytes, big-endian.
    case number(UInt64)
    case bytes(KeyBytes)

    package init(_ number: some LogNumber) { self = .number(number.value) }

    /// - Precondition: the key is one of a table with numbers.
    package var number: UInt64 {
        guard case .number(let number) = self else {
            preconditionFailure("key \(self) is not a number")
        }
        return number
    }

    /// - Precondition: the key is one of a table without numbers.
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

/// A value's bytes where they lie. The type is not generic, so that finding a value costs the same whatever it is.
package enum FoundValue {
    case memory([UInt8])
    /// In the log's file. The bytes stand while the read does.
    case file(UnsafeRawBufferPointer)

    /// Calls `body` with the bytes, which it must not keep.
    package func withSpan<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        switch self {
        case .memory(let bytes): try body(bytes.span.bytes)
        case .file(let bytes): try body(bytes.bytes)
        }
    }

    /// The bytes, to be kept.
    package var array: [UInt8] {
        switch self {
        case .memory(let bytes): bytes
        case .file(let bytes): [UInt8](bytes)
        }
    }

    /// The first `count` bytes.
    func prefix(_ count: Int) -> FoundValue {
        switch self {
        case .memory(let bytes): .memory(Array(bytes[..<count]))
        case .file(let bytes): .file(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}

/// What a transaction does to one key.
package struct TableWrite: Sendable {
    package let table: LogTable
    package let key: LogKey
    /// Nil: the key is removed, if it is there.
    package let value: [UInt8]?

    package init(_ table: LogTable, _ key: LogKey, _ value: [UInt8]?) {
        self.table = table
        self.key = key
        self.value = value
    }

    /// About how much room the write needs.
    var reserveBytes: Int { key.byteCount + (value?.count ?? 0) + 64 }
}

extension [UInt8] {
    package init(copying bytes: RawSpan) {
        self = bytes.withUnsafeBytes { Array($0) }
    }
}
