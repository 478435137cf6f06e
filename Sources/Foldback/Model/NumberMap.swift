/// An ordered map from numbers that mostly rise, cheap to copy and to change after copying.
///
/// The overlay is published with every commit while the next one changes it; with 100,000 intents
/// pending neither may copy them. Pairs lie in chunks of at most 128 in order of key, so a change after
/// a copy costs one chunk and the list of chunks. Appending and removing at either end are O(1) but
/// for that; elsewhere O(log n) to find.
package struct NumberMap<Key: LogNumber, Value: Sendable>: Sendable {
    private static var chunkCountMax: Int { 128 }

    private struct Chunk: Sendable {
        var keys: ContiguousArray<Key> = []
        var values: ContiguousArray<Value> = []
    }

    /// None is empty.
    private var chunks: [Chunk] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }
    package var first: (key: Key, value: Value)? {
        chunks.first.map { ($0.keys[0], $0.values[0]) }
    }
    package var last: (key: Key, value: Value)? {
        chunks.last.map { ($0.keys[$0.keys.count - 1], $0.values[$0.values.count - 1]) }
    }

    package subscript(key: Key) -> Value? {
        get {
            guard case (let chunk, let place, true) = find(key) else { return nil }
            return chunks[chunk].values[place]
        }
        set {
            guard let newValue else {
                remove(key)
                return
            }
            insert(newValue, at: key)
        }
    }

    private mutating func insert(_ value: Value, at key: Key) {
        let (chunk, place, isThere) = find(key)
        if isThere {
            chunks[chunk].values[place] = value
            return
        }
        count += 1
        guard chunk < chunks.count else {
            chunks.append(Chunk(keys: [key], values: [value]))
            return
        }
        chunks[chunk].keys.insert(key, at: place)
        chunks[chunk].values.insert(value, at: place)
        if chunks[chunk].keys.count > Self.chunkCountMax { split(chunk) }
    }

    private mutating func remove(_ key: Key) {
        guard case (let chunk, let place, true) = find(key) else { return }
        count -= 1
        if chunks[chunk].keys.count == 1 {
            chunks.remove(at: chunk)
        } else {
            chunks[chunk].keys.remove(at: place)
            chunks[chunk].values.remove(at: place)
        }
    }

    /// Removes all keys from `key` up.
    package mutating func removeAll(from key: Key) {
        let (chunk, place, _) = find(key)
        guard chunk < chunks.count else { return }
        count -= chunks[chunk...].reduce(0) { $0 + $1.keys.count } - place
        let keep = place == 0 ? chunk : chunk + 1
        chunks.removeSubrange(keep...)
        if place > 0 {
            chunks[chunk].keys.removeSubrange(place...)
            chunks[chunk].values.removeSubrange(place...)
        }
    }

    /// Where the key is, or where it would be inserted. A chunk equal to `chunks.count` means a new
    /// one at the end: appending to a full last chunk starts one instead of splitting it.
    private func find(_ key: Key) -> (chunk: Int, place: Int, isThere: Bool) {
        let chunk = Swift.max(0, chunks.partitioningIndex { $0.keys[0] > key } - 1)
        guard chunk < chunks.count else { return (0, 0, false) }
        let keys = chunks[chunk].keys
        let place = keys.partitioningIndex { $0 >= key }
        if place < keys.count { return (chunk, place, keys[place] == key) }
        let isFullEnd = chunk == chunks.count - 1 && place >= Self.chunkCountMax
        return isFullEnd ? (chunk + 1, 0, false) : (chunk, place, false)
    }

    private mutating func split(_ index: Int) {
        let half = chunks[index].keys.count / 2
        let upper = Chunk(
            keys: ContiguousArray(chunks[index].keys[half...]),
            values: ContiguousArray(chunks[index].values[half...]))
        chunks[index].keys.removeSubrange(half...)
        chunks[index].values.removeSubrange(half...)
        chunks.insert(upper, at: index + 1)
    }
}

extension NumberMap: Swift.Sequence {
    package struct Iterator: IteratorProtocol {
        private let map: NumberMap
        private var chunk: Int
        private var place: Int

        fileprivate init(_ map: NumberMap, chunk: Int, place: Int) {
            self.map = map
            self.chunk = chunk
            self.place = place
        }

        package mutating func next() -> (key: Key, value: Value)? {
            while chunk < map.chunks.count {
                if place < map.chunks[chunk].keys.count {
                    defer { place += 1 }
                    return (map.chunks[chunk].keys[place], map.chunks[chunk].values[place])
                }
                chunk += 1
                place = 0
            }
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(self, chunk: 0, place: 0) }

    /// The pairs from `key` up, in order.
    package func from(_ key: Key) -> IteratorSequence<Iterator> {
        let (chunk, place, _) = find(key)
        return IteratorSequence(Iterator(self, chunk: chunk, place: place))
    }

    package var underestimatedCount: Int { count }
    package var keys: [Key] { map(\.key) }
    package var values: [Value] { map(\.value) }
}

extension RandomAccessCollection {
    /// The first index whose element satisfies `isAfter`, which must hold for all behind it as well.
    fileprivate func partitioningIndex(where isAfter: (Element) -> Bool) -> Index {
        var low = startIndex
        var count = count
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isAfter(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
