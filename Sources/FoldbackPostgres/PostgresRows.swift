#if Postgres
    import CPostgres

    /// The rows that a statement returned, in PostgreSQL's binary form.
    final class PostgresRows {
        private let result: OpaquePointer

        init(_ result: OpaquePointer) { self.result = result }

        deinit { PQclear(result) }

        var count: Int { Int(PQntuples(result)) }

        func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
            let (row, column) = (Int32(row), Int32(column))
            guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column)
            else { return nil }
            let length = Int(PQgetlength(result, row, column))
            return Array(UnsafeRawBufferPointer(start: start, count: length))
        }

        func text(_ row: Int, _ column: Int) -> String? {
            bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
        }

        /// A bigint, or an int.
        func number(_ row: Int, _ column: Int) -> Int64? {
            guard let bytes = bytes(row, column), let first = bytes.first else { return nil }
            return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
        }
    }
#endif
