import CLMDB

/// A named table of an environment. All keys have one type, which determines their order.
package struct Table<Key: TableKey>: Sendable {
    package let name: String
    /// LMDB's handle for writing; nil if the table was opened for reading.
    private let handle: MDB_dbi?

    init(name: String, handle: MDB_dbi?) {
        self.name = name
        self.handle = handle
    }

    var writable: MDB_dbi {
        guard let handle else { preconditionFailure("table \(name) was opened for reading") }
        return handle
    }
}

/// A key with a byte encoding whose order is the keys' order.
package protocol TableKey: Sendable {
    func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R
    /// The key with these bytes; nil if no key of this type has them.
    init?(keyBytes: UnsafeRawBufferPointer)
}

/// Encodes a number as 8 bytes, big-endian. So LMDB's default comparison has the order of the
/// numbers, and keys have the same bytes on all machines (L1).
extension UInt64: TableKey {
    package func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes(of: bigEndian, body)
    }

    package init?(keyBytes: UnsafeRawBufferPointer) {
        guard keyBytes.count == 8 else { return nil }
        self = keyBytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension String: TableKey {
    package func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withBytes(of: Array(utf8), body)
    }

    package init?(keyBytes: UnsafeRawBufferPointer) {
        self.init(validating: keyBytes, as: UTF8.self)
    }
}

/// Calls `body` with the bytes of an array. Unlike `Array.withUnsafeBytes`, it keeps the error's
/// type.
@inlinable
package func withBytes<R, E: Error>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(E) -> R
) throws(E) -> R {
    try bytes.withUnsafeBytes { bytes -> Result<R, E> in
        do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }.get()
}
