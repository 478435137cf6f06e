/// A map from numbers, as most here are: they mostly rise.
package typealias NumberMap<Key: LogNumber, Value: Sendable> = SortedMap<Key, Value>

/// An ordered map that is cheap to copy and to change after copying.
///
/// The overlay is published with every commit while the next one changes it; with 100,000 intents
/// pending neither may copy them. Pairs lie in chunks of at most 32 and chunks in groups of at most 64,
/// all in order of key, so a change after a copy costs one chunk, one group's lists and the list of groups.
/// Appending and removing at either end are O(1) but for that; elsewhere O(log n) to find. A group has its
/// chunks' first keys side by side, so that finding looks into one chunk only.
package struct SortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
    private static var chunkCountMax: Int { 32 }
    private static var groupCountMax: Int { 64 }

    private typealias Chunk = ContiguousArray<(key: Key, value: Value)>

    /// Chunks, with the first key of each; none is empty.
    private struct Group {
        private(set) var chunks: ContiguousArray<Chunk> = []
        private(set) var firsts: ContiguousArray<Key> = []

        init(_ chunks: ContiguousArray<Chunk>) {
            self.chunks = chunks
            firsts = ContiguousArray(chunks.map { $0[0].key })
        }

        var count: Int { chunks.count }

        mutating func append(_ chunk: Chunk) {
            chunks.append(chunk)
            firsts.append(chunk[0].key)
        }

        mutating func insert(_ pair: (key: Key, value: Value), at place: Int, in chunk: Int) {
            chunks[chunk].insert(pair, at: place)
            if place == 0 { firsts[chunk] = pair.key }
        }

        mutating func set(_ value: Value, at place: Int, in chunk: Int) {
            chunks[chunk][place].value = value
        }

        /// Removes the pair, and its chunk with the last one.
        mutating func remove(at place: Int, in chunk: Int) {
            if chunks[chunk].count == 1 {
                chunks.remove(at: chunk)
                firsts.remove(at: chunk)
                return
            }
            chunks[chunk].remove(at: place)
            if place == 0 { firsts[chunk] = chunks[chunk][0].key }
        }

        /// Cuts a chunk into two of half its size.
        mutating func split(_ chunk: Int) {
            let half = chunks[chunk].count / 2
            let upper = Chunk(chunks[chunk][half...])
            chunks[chunk].removeSubrange(half...)
            chunks.insert(upper, at: chunk + 1)
            firsts.insert(upper[0].key, at: chunk + 1)
        }

        /// The chunks behind the first half, which stays.
        mutating func cut() -> Group {
            let half = chunks.count / 2
            let upper = Group(ContiguousArray(chunks[half...]))
            chunks.removeSubrange(half...)
            firsts.removeSubrange(half...)
            return upper
        }
    }

    /// Where a key is, or where it would be inserted.
    private struct Place {
        var group: Int
        var chunk: Int
        var pair: Int
        var isThere: Bool
    }

    /// No chunk and no group is empty.
    private var groups: ContiguousArray<Group> = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }
    package var first: (key: Key, value: Value)? { groups.first?.chunks.first?.first }
    package var last: (key: Key, value: Value)? { groups.last?.chunks.last?.last }

    package subscript(key: Key) -> Value? {
        get {
            guard let place = find(key), place.isThere else { return nil }
            return groups[place.group].chunks[place.chunk][place.pair].value
        }
        set {
            if let newValue { insert(newValue, at: key) } else { remove(key) }
        }
    }

    // MARK: Changing

    private mutating func insert(_ value: Value, at key: Key) {
        guard let place = find(key) else {
            groups.append(Group([[(key, value)]]))
            count = 1
            return
        }
        let (group, chunk) = (place.group, place.chunk)
        if place.isThere {
            groups[group].set(value, at: place.pair, in: chunk)
            return
        }
        count += 1
        // Behind a full last chunk a new one begins: numbers that rise fill their chunks.
        if isEnd(place), place.pair == Self.chunkCountMax {
            append([(key, value)])
            return
        }
        groups[group].insert((key, value), at: place.pair, in: chunk)
        guard groups[group].chunks[chunk].count > Self.chunkCountMax else { return }
        groups[group].split(chunk)
        guard groups[group].count > Self.groupCountMax else { return }
        groups.insert(groups[group].cut(), at: group + 1)
    }

    private func isEnd(_ place: Place) -> Bool {
        place.group == groups.count - 1 && place.chunk == groups[place.group].count - 1
            && place.pair == groups[place.group].chunks[place.chunk].count
    }

    private mutating func append(_ chunk: Chunk) {
        if groups[groups.count - 1].count == Self.groupCountMax {
            groups.append(Group([chunk]))
        } else {
            groups[groups.count - 1].append(chunk)
        }
    }

    private mutating func remove(_ key: Key) {
        guard let place = find(key), place.isThere else { return }
        let (group, chunk) = (place.group, place.chunk)
        count -= 1
        groups[group].remove(at: place.pair, in: chunk)
        if groups[group].count == 0 { groups.remove(at: group) }
    }

    /// Removes all keys from `key` up.
    package mutating func removeAll(from key: Key) {
        guard let place = find(key) else { return }
        var kept = SortedMap()
        kept.groups = ContiguousArray(groups[..<place.group])
        let group = groups[place.group].chunks
        var chunks = ContiguousArray(group[..<place.chunk])
        if place.pair > 0 { chunks.append(ContiguousArray(group[place.chunk][..<place.pair])) }
        if !chunks.isEmpty { kept.groups.append(Group(chunks)) }
        kept.count = kept.groups.reduce(0) { $0 + $1.chunks.reduce(0) { $0 + $1.count } }
        self = kept
    }

    /// Nil where the map is empty.
    private func find(_ key: Key) -> Place? {
        guard count > 0 else { return nil }
        let group =
            groups.count == 1
            ? 0 : Swift.max(0, groups.partitioningIndex { $0.firsts[0] > key } - 1)
        let chunk = Swift.max(0, groups[group].firsts.partitioningIndex { $0 > key } - 1)
        let pairs = groups[group].chunks[chunk]
        let pair = pairs.partitioningIndex { $0.key >= key }
        return Place(
            group: group, chunk: chunk, pair: pair,
            isThere: pair < pairs.count && pairs[pair].key == key)
    }
}

extension SortedMap: Swift.Sequence {
    package struct Iterator: IteratorProtocol {
        private let map: SortedMap
        private var place: Place

        fileprivate init(_ map: SortedMap, at key: Key?) {
            self.map = map
            place =
                key.flatMap { map.find($0) }
                ?? Place(group: 0, chunk: 0, pair: 0, isThere: false)
        }

        package mutating func next() -> (key: Key, value: Value)? {
            while place.group < map.groups.count {
                let group = map.groups[place.group].chunks
                while place.chunk < group.count {
                    if place.pair < group[place.chunk].count {
                        defer { place.pair += 1 }
                        return group[place.chunk][place.pair]
                    }
                    place.chunk += 1
                    place.pair = 0
                }
                place.group += 1
                place.chunk = 0
            }
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(self, at: nil) }

    /// The pairs from `key` up, in order.
    package func from(_ key: Key) -> IteratorSequence<Iterator> {
        IteratorSequence(Iterator(self, at: key))
    }

    /// The last pair before `key`; nil: the last of all.
    package func last(before key: Key?) -> (key: Key, value: Value)? {
        guard let key else { return last }
        guard let place = find(key) else { return nil }
        let chunks = groups[place.group].chunks
        if place.pair > 0 { return chunks[place.chunk][place.pair - 1] }
        if place.chunk > 0 { return chunks[place.chunk - 1].last }
        return place.group > 0 ? groups[place.group - 1].chunks.last?.last : nil
    }

    /// The first pair at or behind `key`.
    package func first(from key: Key) -> (key: Key, value: Value)? {
        var pairs = Iterator(self, at: key)
        return pairs.next()
    }

    package var underestimatedCount: Int { count }
    // Not by key paths, which generic code would have to make at each call.
    package var keys: [Key] { map { $0.key } }
    package var values: [Value] { map { $0.value } }
}

extension RandomAccessCollection {
    /// The first index whose element satisfies `isAfter`, which must hold for all behind it as well.
    package func partitioningIndex(where isAfter: (Element) -> Bool) -> Index {
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
