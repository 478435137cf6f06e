import CLMDB

/// A named table of an environment. Its keys are of one type, so their order is known.
package struct Table<Key: TableKey>: Sendable {
    package let name: String
    /// Nil where it was opened to be read.
    private let handle: MDB_dbi?

    init(name: String, handle: MDB_dbi?) {
        self.name = name
        self.handle = handle
    }

    var writable: MDB_dbi {
        guard let handle else { preconditionFailure("table \(name) was opened to be read") }
        return handle
    }
}

/// A key's bytes, so that their order is the keys' order.
package protocol TableKey: Sendable {
    func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R
    /// Nil where no key of this type has these bytes.
    init?(keyBytes: UnsafeRawBufferPointer)
}

/// 8 bytes, big-endian: LMDB's default comparison then has the numbers' order, and the file reads the
/// same on any machine (L1).
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

/// `Array.withUnsafeBytes` with the type of what `body` throws.
@inlinable
package func withBytes<R, E: Error>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(E) -> R
) throws(E) -> R {
    try bytes.withUnsafeBytes { bytes -> Result<R, E> in
        do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }.get()
}
