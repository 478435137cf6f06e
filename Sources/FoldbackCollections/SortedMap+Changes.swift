extension SortedMap {
    /// Calls `body` for each key whose value differs from that of an earlier copy of this map, in
    /// order of the keys.
    ///
    /// Copies of a map share their chunks until one of them changes, so this skips the chunks that
    /// both maps share. It compares only the others. It is correct for any two maps.
    ///
    /// - Parameters:
    ///   - areSame: returns whether two values need no call.
    ///   - body: gets the earlier value and the present value; nil if there is none.
    /// - Complexity: one step for each group, and for each change since the copy at most 64 steps and
    ///   one comparison for each pair of its chunk. O(n) if the maps share nothing.
    @inlinable public func forEachChange(
        since old: SortedMap, areSame: (Value, Value) -> Bool,
        _ body: (Key, _ old: Value?, _ new: Value?) -> Void
    ) {
        var (before, after) = (Cursor(old), Cursor(self))
        while true {
            Cursor.skipShared(&before, &after)
            switch (before.pair, after.pair) {
            case (nil, nil): return
            case (let pair?, let other?) where pair.key == other.key:
                if !areSame(pair.value, other.value) { body(pair.key, pair.value, other.value) }
                before.advance()
                after.advance()
            case (let pair?, let other) where other.map({ pair.key < $0.key }) ?? true:
                body(pair.key, pair.value, nil)
                before.advance()
            case (_, let other?):
                body(other.key, nil, other.value)
                after.advance()
            case (.some, nil): preconditionFailure("the earlier map's pairs come first at the end")
            }
        }
    }

    /// A place in the map that can skip whole chunks and groups.
    @usableFromInline struct Cursor {
        @usableFromInline let map: SortedMap
        @usableFromInline var group = 0
        @usableFromInline var chunk = 0
        @usableFromInline var place = 0

        @inlinable init(_ map: SortedMap) { self.map = map }

        @inlinable var isAtGroup: Bool { chunk == 0 && isAtChunk }
        @inlinable var isAtChunk: Bool { place == 0 && group < map.groups.count }

        @inlinable var pair: (key: Key, value: Value)? {
            group < map.groups.count ? map.groups[group].chunks[chunk][place] : nil
        }

        @inlinable mutating func advance() {
            place += 1
            if place == map.groups[group].chunks[chunk].count { skipChunk() }
        }

        @inlinable mutating func skipChunk() {
            (chunk, place) = (chunk + 1, 0)
            if chunk == map.groups[group].count { skipGroup() }
        }

        @inlinable mutating func skipGroup() { (group, chunk, place) = (group + 1, 0, 0) }

        /// Moves both cursors over what both maps have in the same memory.
        @inlinable static func skipShared(_ first: inout Cursor, _ second: inout Cursor) {
            while first.isAtChunk, second.isAtChunk {
                let group = first.map.groups[first.group].chunks
                let other = second.map.groups[second.group].chunks
                if first.isAtGroup, second.isAtGroup, group.isShared(with: other) {
                    first.skipGroup()
                    second.skipGroup()
                } else if group[first.chunk].isShared(with: other[second.chunk]) {
                    first.skipChunk()
                    second.skipChunk()
                } else {
                    return
                }
            }
        }
    }
}

extension ContiguousArray {
    /// Returns whether both arrays are the same memory, and so equal. O(1).
    @inlinable func isShared(with other: ContiguousArray) -> Bool {
        withUnsafeBufferPointer { first in
            other.withUnsafeBufferPointer { second in
                first.baseAddress == second.baseAddress && first.count == second.count
            }
        }
    }
}
