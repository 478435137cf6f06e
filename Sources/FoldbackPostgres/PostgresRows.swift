#if Postgres
    import CPostgres

    /// The rows that a statement returned, in PostgreSQL's binary form.
    final class PostgresRows {
        private let result: OpaquePointer

        init(_ result: OpaquePointer) { self.result = result }

        deinit { PQclear(result) }

        var count: Int { Int(PQntuples(result)) }

        /// Why there are no rows; nil if the statement was carried out. Without a code of five characters, it is
        /// not known whether it was.
        var error: (message: String, state: String?)? {
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: nil
            default:
                (field("M") ?? "the connection ended", field("C"))
            }
        }

        /// A part of an error: M is the message, and C the code.
        private func field(_ name: Character) -> String? {
            PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
        }

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
