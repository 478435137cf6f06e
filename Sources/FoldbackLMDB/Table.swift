import CLMDB

/// A named table of an environment. Its keys are of one type, so their order is known.
package struct Table<Key: TableKey>: Sendable {
    package let name: String
    let handle: MDB_dbi

    init(name: String, handle: MDB_dbi) {
        self.name = name
        self.handle = handle
    }
}

/// A key's bytes, so that their order is the keys' order.
package protocol TableKey: Sendable {
    func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R
    init(keyBytes: UnsafeRawBufferPointer)
}

/// 8 bytes, big-endian: LMDB's default comparison then has the numbers' order, and the file reads the
/// same on any machine (L1).
extension UInt64: TableKey {
    package func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeBytes(of: bigEndian, body)
    }

    package init(keyBytes: UnsafeRawBufferPointer) {
        self = keyBytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension String: TableKey {
    package func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    package init(keyBytes: UnsafeRawBufferPointer) {
        self.init(decoding: keyBytes, as: UTF8.self)
    }
}
