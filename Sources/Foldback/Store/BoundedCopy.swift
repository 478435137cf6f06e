/// Writes a log in transactions of bounded size.
struct BoundedCopy {
    private let new: LMDBLog
    private var writes: [TableWrite] = []
    private var bytes = 0

    init(to new: LMDBLog) { self.new = new }

    mutating func put(_ write: TableWrite) throws(LogError) {
        writes.append(write)
        bytes += write.reserveBytes
        if bytes >= Limits.commitBytesMax { try commit() }
    }

    /// Copies a table's rows as they are.
    mutating func put(
        all table: LogTable, of log: LMDBLog, where isWanted: (LogKey) -> Bool
    ) throws(LogError) {
        var next: LogKey = table.keyBytes == 8 ? .number(0) : .bytes(KeyBytes([]))
        while true {
            let piece = try log.rows(of: table, from: next)
            for (key, value) in piece where isWanted(key) {
                try put(TableWrite(table, key, value))
            }
            guard let last = piece.last?.0 else { return }
            next = last.successor
        }
    }

    /// Copies those records of a table up to a sequence that are wanted.
    mutating func put(
        all table: LogTable, of log: LMDBLog, as target: LogTable, upTo last: LogSequence,
        where isWanted: (LogSequence, [UInt8]) throws(LogError) -> Bool
    ) throws(LogError) {
        var next: LogKey = .number(0)
        while true {
            let piece = try log.rows(of: table, from: next)
            for (key, value) in piece {
                let sequence = LogSequence(key.number)
                guard sequence <= last else { return }
                if try isWanted(sequence, value) { try put(TableWrite(target, key, value)) }
            }
            guard let last = piece.last?.0 else { return }
            next = last.successor
        }
    }

    mutating func put(entriesOf log: LMDBLog, after base: LogSequence) throws(LogError) {
        var records = RecordReader(log, after: base)
        while let (sequence, bytes) = try records.next() {
            try put(TableWrite(.entries, LogKey(sequence), bytes))
        }
    }

    mutating func finish() throws(LogError) {
        try commit()
        do throws(StorageFailure) { try new.sync() } catch { throw error.unwritten }
    }

    private mutating func commit() throws(LogError) {
        guard !writes.isEmpty else { return }
        do throws(StorageFailure) { try new.write(writes) } catch { throw error.unwritten }
        writes = []
        bytes = 0
    }
}

extension LogKey {
    /// The next key of the same table.
    var successor: LogKey {
        switch self {
        case .number(let number): .number(number + 1)
        case .bytes(let key): .bytes(KeyBytes(key.bytes + [0]))
        }
    }
}

extension LMDBLog {
    /// Returns the rows of a table from a key on: a bounded piece (L8); none at the end.
    func rows(
        of table: LogTable, from start: LogKey
    ) throws(LogError) -> [(LogKey, [UInt8])] {
        try reading(table) { table throws(LogError) in
            var piece: [(LogKey, [UInt8])] = []
            var bytes = 0
            try table.scan(.forwards(from: start)) { key, value in
                let copy = value.array
                piece.append((key, copy))
                bytes += copy.count
                return piece.count < Limits.readCountMax && bytes < Limits.readBytesMax
            }
            return piece
        }
    }
}
