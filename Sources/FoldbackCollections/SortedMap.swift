/// A key of a ``SortedMap``.
public protocol SortedKey: Comparable, Sendable {
    /// The most pairs in one chunk of a map. 32 by default.
    ///
    /// The first change of a chunk after a copy of the map copies the chunk, and retains the objects
    /// of its pairs. Where changes go to random keys, these are in no cache, so few are better.
    static var chunkCountMax: Int { get }
}

extension SortedKey {
    @inlinable public static var chunkCountMax: Int { 32 }
}

/// A map in order of its keys that is cheap to copy, and cheap to change after a copy.
///
/// Each commit publishes the overlay while the next commit changes it. With 100,000 pending
/// intents, neither may copy the whole map.
///
/// ```
///  groups       [ group, group, … ]
///  group        [ chunk, chunk, … ]  at most 64, with the first key of each
///  chunk        [ pair, pair, … ]    at most 32 if keys are numbers, 8 if they are bytes
/// ```
///
/// A change after a copy copies one chunk, the two lists of one group, and the list of groups.
/// Beyond that, appending and removing at either end are O(1). Finding a key elsewhere is O(log n).
/// A group has the first keys of its chunks side by side, so a search reads only one chunk.
///
/// All of it is public and inlinable, in a module that no product offers: the compiler specializes only
/// such code for the keys and values of another module. Without that, a drain of the outbox takes twice as
/// long (the article Benchmarks of Foldback).
public struct SortedMap<Key: SortedKey, Value: Sendable>: Sendable {
    @inlinable static var groupCountMax: Int { 64 }

    @usableFromInline typealias Chunk = ContiguousArray<(key: Key, value: Value)>

    /// Chunks, with the first key of each. No chunk is empty.
    @usableFromInline struct Group: Sendable {
        @usableFromInline var chunks: ContiguousArray<Chunk> = []
        @usableFromInline var firsts: ContiguousArray<Key> = []
        /// The number of pairs in the chunks.
        @usableFromInline var pairCount = 0

        @inlinable init(_ chunks: ContiguousArray<Chunk>) {
            self.chunks = chunks
            pairCount = chunks.reduce(0) { $0 + $1.count }
            firsts = ContiguousArray(chunks.map { $0[0].key })
        }

        @inlinable var count: Int { chunks.count }

        @inlinable mutating func append(_ chunk: Chunk) {
            chunks.append(chunk)
            firsts.append(chunk[0].key)
            pairCount += chunk.count
        }

        /// Adds a pair after all others. Returns false, and adds nothing, if the last chunk has
        /// `countMax` pairs.
        @inlinable mutating func append(_ pair: (key: Key, value: Value), countMax: Int) -> Bool {
            let last = chunks.count - 1
            guard chunks[last].count < countMax else { return false }
            chunks[last].append(pair)
            pairCount += 1
            return true
        }

        @inlinable mutating func insert(
            _ pair: (key: Key, value: Value), at place: Int, in chunk: Int
        ) {
            pairCount += 1
            chunks[chunk].insert(pair, at: place)
            if place == 0 { firsts[chunk] = pair.key }
        }

        @inlinable mutating func set(_ value: Value, at place: Int, in chunk: Int) {
            chunks[chunk][place].value = value
        }

        /// Changes the value where it is, so that it is copied only if another map shares it.
        @inlinable mutating func change<R>(
            at place: Int, in chunk: Int, _ body: (inout Value) -> R
        ) -> R {
            body(&chunks[chunk][place].value)
        }

        /// Removes the pair. The chunk is removed with its last pair.
        @inlinable mutating func remove(at place: Int, in chunk: Int) {
            pairCount -= 1
            if chunks[chunk].count == 1 {
                chunks.remove(at: chunk)
                firsts.remove(at: chunk)
                return
            }
            chunks[chunk].remove(at: place)
            if place == 0 { firsts[chunk] = chunks[chunk][0].key }
        }

        /// Splits a chunk into two chunks of half its size.
        @inlinable mutating func split(_ chunk: Int) {
            let half = chunks[chunk].count / 2
            let upper = Chunk(chunks[chunk][half...])
            chunks[chunk].removeSubrange(half...)
            chunks.insert(upper, at: chunk + 1)
            firsts.insert(upper[0].key, at: chunk + 1)
        }

        /// Removes the second half of the chunks, and returns it.
        @inlinable mutating func cut() -> Group {
            let half = chunks.count / 2
            let upper = Group(ContiguousArray(chunks[half...]))
            chunks.removeSubrange(half...)
            firsts.removeSubrange(half...)
            pairCount -= upper.pairCount
            return upper
        }
    }

    /// The place of a key, or the place where it would be inserted.
    @usableFromInline struct Place: Sendable {
        @usableFromInline var group: Int
        @usableFromInline var chunk: Int
        @usableFromInline var pair: Int
        @usableFromInline var isThere: Bool

        @inlinable init(group: Int, chunk: Int, pair: Int, isThere: Bool) {
            (self.group, self.chunk, self.pair, self.isThere) = (group, chunk, pair, isThere)
        }
    }

    /// No chunk and no group is empty.
    @usableFromInline var groups: ContiguousArray<Group> = []
    @usableFromInline var pairCount = 0

    @inlinable public init() {}

    @inlinable public var count: Int { pairCount }
    @inlinable public var isEmpty: Bool { pairCount == 0 }
    @inlinable public var first: (key: Key, value: Value)? { groups.first?.chunks.first?.first }
    @inlinable public var last: (key: Key, value: Value)? { groups.last?.chunks.last?.last }

    @inlinable public subscript(key: Key) -> Value? {
        get {
            guard let place = find(key), place.isThere else { return nil }
            return groups[place.group].chunks[place.chunk][place.pair].value
        }
        set {
            if let newValue { insert(newValue, at: key) } else { remove(key) }
        }
    }

    /// Returns the pair at an offset in key order. Traps if there is none.
    ///
    /// - Complexity: O(1) for each group before it, and for each chunk of its group.
    @inlinable public func pair(atOffset offset: Int) -> (key: Key, value: Value) {
        precondition((0..<count).contains(offset), "the map has \(count) pairs, none at \(offset)")
        var left = offset
        var group = 0
        while left >= groups[group].pairCount {
            left -= groups[group].pairCount
            group += 1
        }
        var chunk = 0
        while left >= groups[group].chunks[chunk].count {
            left -= groups[group].chunks[chunk].count
            chunk += 1
        }
        return groups[group].chunks[chunk][left]
    }

    // MARK: Changing

    /// Changes the value at `key` where it is, or a new value. Finds the key once.
    ///
    /// - Parameters:
    ///   - newValue: the value to change if there is none.
    ///   - isEmpty: whether the changed value is removed.
    @inlinable public mutating func change<R>(
        _ key: Key, or newValue: @autoclosure () -> Value, removedIf isEmpty: (Value) -> Bool,
        _ body: (inout Value) -> R
    ) -> R {
        guard let place = find(key), place.isThere else {
            var value = newValue()
            let result = body(&value)
            if !isEmpty(value) { insert(value, at: key) }
            return result
        }
        let result = groups[place.group].change(at: place.pair, in: place.chunk, body)
        if isEmpty(groups[place.group].chunks[place.chunk][place.pair].value) { remove(key) }
        return result
    }

    /// Adds a pair after all others, without a search.
    ///
    /// - Precondition: `key` is after the last key.
    @inlinable public mutating func append(_ value: Value, at key: Key) {
        guard let last else {
            insert(value, at: key)
            return
        }
        precondition(last.key < key, "key \(key) is not after the last key \(last.key)")
        pairCount += 1
        if groups[groups.count - 1].append((key, value), countMax: Key.chunkCountMax) { return }
        append([(key, value)])
    }

    @inlinable mutating func insert(_ value: Value, at key: Key) {
        guard let place = find(key) else {
            groups.append(Group([[(key, value)]]))
            pairCount = 1
            return
        }
        let (group, chunk) = (place.group, place.chunk)
        if place.isThere {
            groups[group].set(value, at: place.pair, in: chunk)
            return
        }
        pairCount += 1
        // A full last chunk is not split, so that rising numbers fill their chunks.
        if isEnd(place), place.pair == Key.chunkCountMax {
            append([(key, value)])
            return
        }
        groups[group].insert((key, value), at: place.pair, in: chunk)
        guard groups[group].chunks[chunk].count > Key.chunkCountMax else { return }
        groups[group].split(chunk)
        guard groups[group].count > Self.groupCountMax else { return }
        groups.insert(groups[group].cut(), at: group + 1)
    }

    @inlinable func isEnd(_ place: Place) -> Bool {
        place.group == groups.count - 1 && place.chunk == groups[place.group].count - 1
            && place.pair == groups[place.group].chunks[place.chunk].count
    }

    @inlinable mutating func append(_ chunk: Chunk) {
        if groups[groups.count - 1].count == Self.groupCountMax {
            groups.append(Group([chunk]))
        } else {
            groups[groups.count - 1].append(chunk)
        }
    }

    @inlinable mutating func remove(_ key: Key) {
        guard let place = find(key), place.isThere else { return }
        let (group, chunk) = (place.group, place.chunk)
        pairCount -= 1
        groups[group].remove(at: place.pair, in: chunk)
        if groups[group].count == 0 { groups.remove(at: group) }
    }

    /// Removes the first pair, without a search.
    ///
    /// - Precondition: the map is not empty.
    @inlinable public mutating func removeFirst() {
        pairCount -= 1
        groups[0].remove(at: 0, in: 0)
        if groups[0].count == 0 { groups.remove(at: 0) }
    }

    /// Removes `key` and all keys after it.
    @inlinable public mutating func removeAll(from key: Key) {
        guard let place = find(key) else { return }
        var kept = SortedMap()
        kept.groups = ContiguousArray(groups[..<place.group])
        let group = groups[place.group].chunks
        var chunks = ContiguousArray(group[..<place.chunk])
        if place.pair > 0 { chunks.append(ContiguousArray(group[place.chunk][..<place.pair])) }
        if !chunks.isEmpty { kept.groups.append(Group(chunks)) }
        kept.pairCount = kept.groups.reduce(0) { $0 + $1.chunks.reduce(0) { $0 + $1.count } }
        self = kept
    }

    /// Returns the key's place, or nil if the map is empty.
    @inlinable func find(_ key: Key) -> Place? {
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
    public struct Iterator: IteratorProtocol {
        @usableFromInline let map: SortedMap
        @usableFromInline var place: Place

        @inlinable init(_ map: SortedMap, at key: Key?) {
            self.map = map
            place =
                key.flatMap { map.find($0) }
                ?? Place(group: 0, chunk: 0, pair: 0, isThere: false)
        }

        @inlinable public mutating func next() -> (key: Key, value: Value)? {
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

    @inlinable public func makeIterator() -> Iterator { Iterator(self, at: nil) }

    /// Returns the pairs at and after `key`, in order.
    @inlinable public func from(_ key: Key) -> IteratorSequence<Iterator> {
        IteratorSequence(Iterator(self, at: key))
    }

    /// Returns the last pair before `key`, or the last of all if `key` is nil.
    @inlinable public func last(before key: Key?) -> (key: Key, value: Value)? {
        guard let key else { return last }
        guard let place = find(key) else { return nil }
        let chunks = groups[place.group].chunks
        if place.pair > 0 { return chunks[place.chunk][place.pair - 1] }
        if place.chunk > 0 { return chunks[place.chunk - 1].last }
        return place.group > 0 ? groups[place.group - 1].chunks.last?.last : nil
    }

    /// Returns the first pair at or after `key`.
    @inlinable public func first(from key: Key) -> (key: Key, value: Value)? {
        var pairs = Iterator(self, at: key)
        return pairs.next()
    }

    @inlinable public var underestimatedCount: Int { count }
    // Closures, because unspecialized code would create a key path at each call.
    @inlinable public var keys: [Key] { map { $0.key } }
    @inlinable public var values: [Value] { map { $0.value } }
}

extension RandomAccessCollection {
    /// Returns the first index whose element satisfies `isAfter`, by binary search.
    ///
    /// - Precondition: if an element satisfies `isAfter`, all elements after it do.
    @inlinable public func partitioningIndex(where isAfter: (Element) -> Bool) -> Index {
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
