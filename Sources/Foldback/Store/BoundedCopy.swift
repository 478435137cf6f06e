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

extension LMDBLog {
    /// Calls `body` with each row of a table, in order of keys. Reads bounded pieces (L8).
    func eachRow(
        of table: LogTable, _ body: (LogKey, [UInt8]) throws(LogError) -> Void
    ) throws(LogError) {
        var next: LogKey = table.keyBytes == 8 ? .number(0) : .bytes(KeyBytes([]))
        while true {
            let piece = try rows(of: table, from: next)
            for (key, value) in piece { try body(key, value) }
            guard let last = piece.last?.0 else { return }
            next = last.successor
        }
    }

    private func rows(
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

extension LogKey {
    /// The next key of the same table.
    fileprivate var successor: LogKey {
        switch self {
        case .number(let number): .number(number + 1)
        case .bytes(let key): .bytes(KeyBytes(key.bytes + [0]))
        }
    }
}
