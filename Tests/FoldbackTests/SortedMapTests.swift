import Foldback
import FoldbackCollections
import TestSupport
import Testing

/// Failure: chunks of 32 byte keys made an answer among 100,000 pending intents 1.8 times as
/// expensive as among 10, because each change copied a chunk of cold objects.
///
/// Property: a map with byte keys behaves like a sorted dictionary, also after it was copied, and if
/// many keys begin alike.
@Suite struct ByteKeyMapTests {
    private typealias Map = SortedMap<KeyBytes, Int>
    private typealias Model = [KeyBytes: Int]

    /// Returns a key with one of few beginnings: shorter than 8 bytes, and equal in the first 8 or 16
    /// bytes. It ends in few bytes, often zeros.
    private func key(_ random: inout SeededGenerator) -> KeyBytes {
        let byte = [0, 0, 7, 255].randomElement(using: &random) ?? 0
        let count = [0, 1, 7, 8, 15, 16, 17].randomElement(using: &random) ?? 0
        let tail = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            [0, 0, 1, 255].randomElement(using: &random) ?? 0
        }
        return KeyBytes([UInt8](repeating: UInt8(byte), count: count) + tail.map { UInt8($0) })
    }

    /// Compares keys by their bytes alone.
    private func sorted(_ model: Model) -> [[UInt8]] {
        model.keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func change(
        _ map: inout Map, _ model: inout Model, _ step: Int, _ random: inout SeededGenerator
    ) {
        let key = key(&random)
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<700: (map[key], model[key]) = (step, step)
        case 700..<800:
            map.change(key, or: 0, removedIf: { $0.isMultiple(of: 3) }) { $0 += step }
            let sum = (model[key] ?? 0) + step
            model[key] = sum.isMultiple(of: 3) ? nil : sum
        case 800..<999: (map[key], model[key]) = (nil, nil)
        default:
            map.removeAll(from: key)
            model = model.filter { $0.key.bytes.lexicographicallyPrecedes(key.bytes) }
        }
    }

    @Test func `a map with byte keys behaves like a sorted dictionary`() {
        for seed in 0..<6 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var map = Map()
            var model: Model = [:]
            for step in 0..<6_000 {
                let (copy, before) = (map, model)
                change(&map, &model, step, &random)
                guard step % 251 == 0 else { continue }
                let keys = sorted(model)
                let sought = key(&random)
                let rest = keys.filter { !$0.lexicographicallyPrecedes(sought.bytes) }
                #expect(map.keys.map(\.bytes) == keys, "seed \(seed), step \(step)")
                #expect(copy.keys.map(\.bytes) == sorted(before))
                #expect(map[sought] == model[sought])
                #expect(map.from(sought).map(\.key.bytes) == rest)
                #expect(map.first(from: sought)?.key.bytes == rest.first)
                #expect(map.last(before: sought)?.key.bytes == keys.dropLast(rest.count).last)
                #expect(model.allSatisfy { map[$0.key] == $0.value })
                let offsets = stride(from: 0, to: map.count, by: 7)
                #expect(offsets.allSatisfy { map.pair(atOffset: $0).key.bytes == keys[$0] })
            }
        }
    }

    @Test func `a scan of byte keys has the keys of its span in both directions`() {
        for seed in 0..<6 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var map = Map()
            var model: Model = [:]
            for step in 0..<2_000 { change(&map, &model, step, &random) }
            for _ in 0..<20 {
                let bounds = [key(&random), key(&random)].sorted()
                let span = KeySpan(lower: bounds[0], upper: random.oneIn(4) ? nil : bounds[1])
                let inside = sorted(model).filter { span.contains(KeyBytes($0)) }
                for backwards in [false, true] {
                    var found: [[UInt8]] = []
                    map.scan(span, backwards: backwards) { key, _ in
                        found.append(key.bytes)
                        return true
                    }
                    #expect(found == (backwards ? inside.reversed() : inside), "seed \(seed)")
                }
            }
        }
    }

    @Test func `the order of byte keys is that of their bytes`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let (a, b) = (key(&random), key(&random))
            #expect((a < b) == a.bytes.lexicographicallyPrecedes(b.bytes))
            #expect((a == b) == (a.bytes == b.bytes))
        }
    }

    @Test func `a change among 100,000 byte keys copies at most 8 pairs`() {
        var map = Map()
        func key(_ number: UInt64) -> KeyBytes {
            KeyBytes((number * 7_919 % 1_000_003).bytes(after: []))
        }
        for number in 0..<100_000 as Range<UInt64> { map[key(number)] = 0 }
        for number in stride(from: 0, to: 100_000, by: 997) as StrideTo<UInt64> {
            var changed = map
            changed[key(number)] = 1
            var compared = 0
            changed.forEachChange(since: map) { first, second in
                compared += 1
                return first == second
            } _: { changedKey, _, _ in
                #expect(changedKey == key(number))
            }
            // Only the pairs of a copied chunk are compared.
            #expect(compared <= 8)
        }
    }
}
