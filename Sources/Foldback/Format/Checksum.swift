/// XXH64, the 64-bit checksum of the log's values (L5).
///
/// It finds damage, but does not protect against forgery. The code follows the description of the
/// algorithm at github.com/Cyan4973/xxHash, doc/xxhash_spec.md 0.2.0. The tests use its vectors.
package enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Returns the checksum of the bytes.
    ///
    /// - Complexity: O(n), at some gigabytes in a second.
    package static func of(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
        bytes.withUnsafeBytes { of($0, seed: seed) }
    }

    package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            hash = stripes(bytes, seed: seed, &offset)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash ^= round(0, word(bytes, offset))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash ^= UInt64(half) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash ^= UInt64(bytes[offset]) &* prime5
            hash = rotate(hash, 11) &* prime1
            offset += 1
        }
        hash ^= hash >> 33
        hash &*= prime2
        hash ^= hash >> 29
        hash &*= prime3
        return hash ^ hash >> 32
    }

    private static func stripes(
        _ bytes: UnsafeRawBufferPointer, seed: UInt64, _ offset: inout Int
    ) -> UInt64 {
        var a = seed &+ prime1 &+ prime2
        var b = seed &+ prime2
        var c = seed
        var d = seed &- prime1
        while offset + 32 <= bytes.count {
            a = round(a, word(bytes, offset))
            b = round(b, word(bytes, offset + 8))
            c = round(c, word(bytes, offset + 16))
            d = round(d, word(bytes, offset + 24))
            offset += 32
        }
        var hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
        for lane in [a, b, c, d] { hash = (hash ^ round(0, lane)) &* prime1 &+ prime4 }
        return hash
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    private static func rotate(_ value: UInt64, _ by: UInt64) -> UInt64 {
        value << by | value >> (64 - by)
    }
}

extension KeyBytes {
    /// The seed of the checksum of the value under this key.
    package var seed: UInt64 { Checksum.of(bytes.span.bytes, seed: 0) }
}
