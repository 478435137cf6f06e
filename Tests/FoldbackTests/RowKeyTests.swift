import Foldback
import Foundation
import TestSupport
import Testing

/// Failure: the bytes of keys sorted differently from the keys, so a page began at the wrong row.
///
/// Property: the bytes of keys have the order of the keys and decode to the same keys.
@Suite struct RowKeyTests {
    private static func seed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["KEY_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("keys: seed \(seed) (to repeat: KEY_SEED=\(seed))")
        return seed
    }

    private static func check<K: RowKey>(
        _ keys: [K], _ isBefore: (K, K) -> Bool, _ type: String
    ) throws {
        for key in keys {
            let decoded = try K(stored: key.bytes(after: [7, 7]), after: 2)
            try #require(decoded == key, "\(type): \(key) decoded as \(decoded)")
        }
        for a in keys {
            for b in keys {
                let bytes = KeyBytes(a.bytes(after: [])) < KeyBytes(b.bytes(after: []))
                try #require(bytes == isBefore(a, b), "\(type): wrong order of \(a) and \(b)")
            }
        }
    }

    private enum Kind: String, RowKey, CaseIterable { case video, photo, text = "" }
    private enum Level: Int8, RowKey, CaseIterable { case low = -1, middle, high = 7 }

    @Test func `an enum with raw values is a key, in the order of its raw values`() throws {
        try Self.check(Kind.allCases, { $0.rawValue < $1.rawValue }, "String enum")
        try Self.check(Level.allCases, { $0.rawValue < $1.rawValue }, "Int8 enum")
        #expect(Kind.photo.bytes(after: []) == "photo".bytes(after: []))
        #expect(throws: RowError.unreadableKey) {
            try Kind(stored: "audio".bytes(after: []), after: 0)
        }
        #expect(throws: RowError.unreadableKey) {
            try Level(stored: (3 as Int8).bytes(after: []), after: 0)
        }
        let pair = KeyPair(Kind.video, Level.high)
        #expect(try KeyPair<Kind, Level>(stored: pair.bytes(after: []), after: 0) == pair)
    }

    @Test func `key bytes sort like their keys and decode to the same keys`() throws {
        var random = SeededGenerator(seed: Self.seed())
        let numbers = (0..<40).map { _ in Int64.random(in: .min ... .max, using: &random) }
        let bounds: [Int64] = [.min, -1, 0, 1, .max]
        try Self.check(bounds + numbers, <, "Int64")
        try Self.check([UInt32.min, 1, .max], <, "UInt32")
        try Self.check([Int8.min, -1, 0, 1, .max], <, "Int8")
        try Self.check([false, true], { !$0 && $1 }, "Bool")
        let doubles = (0..<40).map { _ in
            Double(bitPattern: UInt64.random(in: 0 ... .max, using: &random))
        }
        let tiny = Double.leastNonzeroMagnitude
        let marked: [Double] = [-.infinity, -1, -tiny, 0, tiny, 1, .infinity]
        try Self.check(marked + doubles.filter { !$0.isNaN }, <, "Double")
        let texts = Self.texts(&random)
        func byBytes(_ a: String, _ b: String) -> Bool {
            Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
        }
        try Self.check(texts.map { ExactString($0) }, <, "text")
        try Self.check(
            texts.map { Array($0.utf8) }, { $0.lexicographicallyPrecedes($1) }, "bytes")
        let dates = doubles.filter(\.isFinite).prefix(10).map {
            Date(timeIntervalSinceReferenceDate: $0)
        }
        try Self.check(Array(dates), <, "Date")
        // For each byte, two values that differ only there.
        let uuids = (0..<16).flatMap { place in
            [1, 200].map { (byte: UInt8) in
                var bytes = [UInt8](repeating: 77, count: 16)
                bytes[place] = byte
                return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            }
        }
        try Self.check(uuids, { $0.uuidString < $1.uuidString }, "UUID")
        let pairs = texts.prefix(12).flatMap { text in
            [-1, 0, 7].map { KeyPair(ExactString(text), $0) }
        }
        try Self.check(pairs, <, "pair")
        try Self.check(
            texts.prefix(12).map { Descending(ExactString($0)) }, { $1.key < $0.key }, "descending")
        let mixed = texts.prefix(8).flatMap { text in
            [-1, 0, 7].map { KeyPair(Descending($0), ExactString(text)) }
        }
        try Self.check(
            mixed,
            { a, b in a.first == b.first ? a.second < b.second : b.first.key < a.first.key },
            "mixed")
    }

    /// Returns texts with zeros, and texts that are prefixes or suffixes of other texts.
    private static func texts(_ random: inout SeededGenerator) -> [String] {
        let parts = ["\u{0}", "\u{1}", "a", "b", "\u{7F}", "é", "e\u{301}", "\u{FFFF}", "😀"]
        var texts: Set<[UInt8]> = [[]]
        while texts.count < 40 {
            let count = Int.random(in: 0...4, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random)! }.joined()
            texts.insert(Array(text.utf8))
        }
        return texts.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `bytes that do not encode a key are an error`() {
        for bytes in [[], [97], [97, 0], [97, 0, 7], [0xC3, 0, 0]] as [[UInt8]] {
            #expect(throws: RowError.unreadableKey) { try String(stored: bytes, after: 0) }
        }
        #expect(throws: RowError.unreadableKey) { try Int(stored: [1, 2, 3], after: 0) }
        #expect(throws: RowError.unreadableKey) { try Int8(stored: [1, 2], after: 0) }
    }
}
