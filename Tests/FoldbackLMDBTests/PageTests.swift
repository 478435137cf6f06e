import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// These tests ask whether Foldback's own page reader agrees with LMDB's writer.
///
/// Property: after any transactions, a read returns the pairs that were put, in order of key. Each
/// page of the file is used once or free once.
@Suite struct PageTests {
    private let directory = TemporaryDirectory()

    @Test func `reads return the pairs that were put, and each page is used or free once`() throws {
        let seed = UInt64.random(in: 0...UInt64.max / 2)
        print("pages: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var options = Environment.Options()
        options.relaxed = true
        let environment = try Environment.open(directory.log.path, options: options)
        defer { environment.close() }
        var model: [UInt64: [UInt8]] = [:]
        for step in 0..<400 {
            let changes = changes(&random, in: model)
            let table = try environment.write { transaction throws(LMDBError) in
                let table: Table<UInt64> = try transaction.table("t")
                for (key, value) in changes {
                    if let value {
                        try transaction.put(value, at: key, in: table)
                    } else {
                        _ = try transaction.delete(key, from: table)
                    }
                }
                return table
            }
            for (key, value) in changes { model[key] = value }
            guard step % 10 == 0 || step > 390 else { continue }
            try compare(environment, table, model, &random, "seed \(seed), step \(step)")
        }
    }

    /// Returns random puts and deletes, in runs or scattered. Values have up to three pages.
    private func changes(
        _ random: inout SeededGenerator, in model: [UInt64: [UInt8]]
    ) -> [(UInt64, [UInt8]?)] {
        let start = UInt64.random(in: 0..<3_000, using: &random)
        let isRun = random.oneIn(2)
        let deletes = random.oneIn(3)
        // Use each key once. A value that one transaction puts twice can keep more pages than it
        // needs.
        var keys: Set<UInt64> = []
        for index in 0..<UInt64.random(in: 1...60, using: &random) {
            keys.insert(isRun ? start + index : UInt64.random(in: 0..<3_000, using: &random))
        }
        return keys.shuffled(using: &random).map { key in
            if deletes || random.oneIn(5) { return (key, nil) }
            let size = random.oneIn(8) ? 12_000 : 200
            let count = Int.random(in: 0..<size, using: &random)
            return (key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: count))
        }
    }

    private func compare(
        _ environment: Environment, _ table: Table<UInt64>, _ model: [UInt64: [UInt8]],
        _ random: inout SeededGenerator, _ what: Comment
    ) throws {
        let expected = model.sorted { $0.key < $1.key }
        let start = UInt64.random(in: 0..<3_100, using: &random)
        try environment.read { transaction throws(LMDBError) in
            var found: [(UInt64, [UInt8])] = []
            try transaction.scan(table) { key, value in
                found.append((key, value.withUnsafeBytes { Array($0) }))
                return true
            }
            #expect(found.elementsEqual(expected) { $0.0 == $1.key && $0.1 == $1.value }, what)
            #expect(try transaction.count(of: table) == model.count, what)
            var from: [UInt64] = []
            try transaction.scan(table, from: start) { key, _ in
                from.append(key)
                return from.count < 20
            }
            #expect(from == expected.map(\.key).filter { $0 >= start }.prefix(20).map(\.self), what)
            for key in start..<start + 20 {
                let value = try transaction.get(table, key) { $0.withUnsafeBytes { Array($0) } }
                #expect(value == model[key], what)
            }
        }
        let damaged = try environment.damagedPages()
        #expect(damaged.isEmpty, "\(what): \(damaged.prefix(3))")
    }
}
