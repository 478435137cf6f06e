import CLMDB
import Foldback
import Foundation

/// The messages of ``Mailbox`` in plain LMDB: a table by key, and a table of the unread messages'
/// keys by the time of sending.
///
/// `@unchecked Sendable`: after `init` the environment and its tables are only read, which LMDB
/// allows on any thread.
final class RawRows: @unchecked Sendable {
    private let environment: OpaquePointer
    private let messages: MDB_dbi
    private let unread: MDB_dbi

    private static let mapSizeBytes = 4 << 30
    private static let keyBytes = 8

    init(creating directory: String) throws {
        var created: OpaquePointer?
        try check(mdb_env_create(&created))
        guard let created else { throw RawFailure(code: ENOMEM) }
        environment = created
        do {
            try check(mdb_env_set_mapsize(created, Self.mapSizeBytes))
            try check(mdb_env_set_maxdbs(created, 2))
            try check(
                mdb_env_open(created, directory, UInt32(MDB_NOTLS) | UInt32(MDB_NOMETASYNC), 0o600))
            let transaction = try RawLMDB.begun(in: created)
            messages = try RawLMDB.table("messages", in: transaction)
            unread = try RawLMDB.table("unread", in: transaction)
            try check(mdb_txn_commit(transaction))
            try fill()
        } catch {
            mdb_env_close(created)
            throw error
        }
    }

    deinit { mdb_env_close(environment) }

    private func fill() throws {
        let codec = MailMessage.Codec()
        for first in stride(from: 0, to: MailboxLogs.rowCount, by: 10_000) {
            let transaction = try RawLMDB.begun(in: environment)
            for key in first..<first + 10_000 {
                let message = MailMessage(at: key)
                let bytes = try codec.bytes(of: message)
                try put(key.keyBytes, bytes, messages, transaction, UInt32(MDB_APPEND))
                if message.isUnread {
                    try put(message.sent.keyBytes + key.keyBytes, [], unread, transaction, 0)
                }
            }
            try check(mdb_txn_commit(transaction))
        }
    }

    private func put(
        _ key: [UInt8], _ value: [UInt8], _ table: MDB_dbi, _ transaction: OpaquePointer,
        _ flags: UInt32
    ) throws {
        let code = key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                var key = MDB_val(reading: key)
                var value = MDB_val(reading: value)
                return mdb_put(transaction, table, &key, &value, flags)
            }
        }
        try check(code)
    }

    // MARK: Reading

    /// Calls `body` with a reader in one read transaction.
    func read<R>(_ body: (borrowing Reader) throws -> R) throws -> R {
        let transaction = try RawLMDB.begun(in: environment, flags: UInt32(MDB_RDONLY))
        defer { mdb_txn_abort(transaction) }
        return try body(Reader(transaction: transaction, messages: messages, unread: unread))
    }

    struct Reader: ~Copyable {
        fileprivate let transaction: OpaquePointer
        fileprivate let messages: MDB_dbi
        fileprivate let unread: MDB_dbi
        private let codec = MailMessage.Codec()

        fileprivate init(transaction: OpaquePointer, messages: MDB_dbi, unread: MDB_dbi) {
            self.transaction = transaction
            self.messages = messages
            self.unread = unread
        }

        borrowing func get(_ key: UInt64) throws -> MailMessage {
            var found = MDB_val()
            let code = withUnsafeBytes(of: key.bigEndian) { bytes in
                var key = MDB_val(reading: bytes)
                return mdb_get(transaction, messages, &key, &found)
            }
            try check(code)
            return try decoded(found)
        }

        /// The first messages from `key` on.
        borrowing func page(from key: UInt64, limit: Int) throws -> [MailMessage] {
            try walk(messages, from: key, MDB_NEXT, limit: limit) { _, value in
                try decoded(value)
            }
        }

        /// The unread messages that were sent before `time`, the newest first.
        borrowing func unread(sentBefore time: UInt64, limit: Int) throws -> [MailMessage] {
            let keys = try walk(unread, from: time, MDB_PREV, limit: limit) { key, _ in
                UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
                    .loadUnaligned(fromByteOffset: RawRows.keyBytes, as: UInt64.self).byteSwapped
            }
            return try keys.map { try get($0) }
        }

        private borrowing func decoded(_ value: MDB_val) throws -> MailMessage {
            let bytes = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
            return try codec.decode(bytes.bytes)
        }

        private borrowing func walk<R>(
            _ table: MDB_dbi, from start: UInt64, _ direction: MDB_cursor_op, limit: Int,
            _ body: (MDB_val, MDB_val) throws -> R
        ) throws -> [R] {
            var opened: OpaquePointer?
            try check(mdb_cursor_open(transaction, table, &opened))
            guard let cursor = opened else { throw RawFailure(code: ENOMEM) }
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var value = MDB_val()
            var code = withUnsafeBytes(of: start.bigEndian) { bytes in
                key = MDB_val(reading: bytes)
                return mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
            }
            if direction == MDB_PREV {
                code = mdb_cursor_get(
                    cursor, &key, &value, code == MDB_NOTFOUND ? MDB_LAST : MDB_PREV)
            }
            var results: [R] = []
            while code != MDB_NOTFOUND {
                try check(code)
                results.append(try body(key, value))
                guard results.count < limit else { break }
                code = mdb_cursor_get(cursor, &key, &value, direction)
            }
            return results
        }
    }
}

extension UInt64 {
    fileprivate var keyBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
