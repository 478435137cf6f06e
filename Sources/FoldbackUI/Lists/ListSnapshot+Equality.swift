// The compiler's own `==` and `hash(into:)` are not inlinable, so that they are not specialized for
// the app's items: comparing two lists would take five times as long.

extension ListSnapshot: Equatable {
    /// - Complexity: O(n) in rows; constant for copies of one snapshot.
    @inlinable public static func == (first: ListSnapshot, second: ListSnapshot) -> Bool {
        first.storage === second.storage || first.storage.sections == second.storage.sections
    }
}

extension ListSnapshot.Section: Equatable {
    @inlinable public static func == (first: Self, second: Self) -> Bool {
        guard first.id == second.id, first.rows.count == second.rows.count else { return false }
        return ListSnapshot.equalEnds(first.rows, second.rows).head == first.rows.count
            && first.rows.indices.allSatisfy {
                ListSnapshot.changes(first.rows, $0, since: second.rows, $0).isEmpty
            }
    }
}

extension ListSnapshot.Row: Equatable {
    @inlinable public static func == (first: Self, second: Self) -> Bool {
        first.id == second.id && first.content == second.content && first.status == second.status
            && first.isGhost == second.isGhost
    }
}

extension ListSnapshot {
    /// Returns what has changed in a row since an old row with the same id (U22).
    ///
    /// Fields are read through pointers, because an array would retain all parts of both rows to
    /// read one field. That takes twice as long.
    @inlinable static func changes(
        _ rows: [Row], _ row: Int, since oldRows: [Row], _ oldRow: Int
    ) -> ListChangeKinds {
        rows.withUnsafeBufferPointer { rows in
            oldRows.withUnsafeBufferPointer { oldRows in
                var kinds: ListChangeKinds = []
                if haveSameBytes(rows, row, oldRows, oldRow) { return kinds }
                if rows[row].content != oldRows[oldRow].content { kinds.insert(.content) }
                if rows[row].status != oldRows[oldRow].status
                    || rows[row].isGhost != oldRows[oldRow].isGhost
                {
                    kinds.insert(.status)  // mutant: list-status-change
                }
                return kinds
            }
        }
    }

    /// Returns the numbers of rows at both ends that have equal ids. No row counts twice.
    @inlinable static func equalEnds(_ rows: [Row], _ oldRows: [Row]) -> (head: Int, tail: Int) {
        rows.withUnsafeBufferPointer { rows in
            oldRows.withUnsafeBufferPointer { oldRows in
                let shorter = min(rows.count, oldRows.count)
                var head = 0
                while head < shorter,
                    haveSameBytes(rows, head, oldRows, head) || rows[head].id == oldRows[head].id
                {
                    head += 1
                }
                var tail = 0
                while tail < shorter - head {
                    let last = (rows.count - 1 - tail, oldRows.count - 1 - tail)
                    guard
                        haveSameBytes(rows, last.0, oldRows, last.1)
                            || rows[last.0].id == oldRows[last.1].id
                    else { break }
                    tail += 1
                }
                return (head, tail)
            }
        }
    }

    /// Returns whether two rows have contents and statuses of the same bytes, and so are equal: a
    /// value is equal to itself, and the content has the row's id.
    ///
    /// Most rows are made of the same state as the rows before, so that their strings and arrays are
    /// the same objects. Comparing their bytes takes a tenth of the time of comparing their parts,
    /// which retains and releases each part. Equal rows can have different bytes.
    @inlinable static func haveSameBytes(
        _ rows: UnsafeBufferPointer<Row>, _ row: Int, _ oldRows: UnsafeBufferPointer<Row>,
        _ oldRow: Int
    ) -> Bool {
        guard let start = rows.baseAddress, let oldStart = oldRows.baseAddress,
            let content = MemoryLayout<Row>.offset(of: \.content),
            let status = MemoryLayout<Row>.offset(of: \.status),
            rows[row].isGhost == oldRows[oldRow].isGhost,
            case .some = rows[row].content, case .some = oldRows[oldRow].content
        else { return false }
        let (bytes, oldBytes) = (UnsafeRawPointer(start + row), UnsafeRawPointer(oldStart + oldRow))
        // An optional value begins with the value.
        return areEqual(bytes + content, oldBytes + content, count: MemoryLayout<Item>.size)
            && areEqual(bytes + status, oldBytes + status, count: MemoryLayout<ItemStatus>.size)
    }

    @inlinable static func areEqual(
        _ bytes: UnsafeRawPointer, _ others: UnsafeRawPointer, count: Int
    ) -> Bool {
        var offset = 0
        while offset + 8 <= count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard word == others.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
                return false
            }
            offset += 8
        }
        while offset < count {
            let byte = bytes.load(fromByteOffset: offset, as: UInt8.self)
            guard byte == others.load(fromByteOffset: offset, as: UInt8.self) else { return false }
            offset += 1
        }
        return true
    }
}

extension ListSnapshot.RowID: Hashable {
    @inlinable public static func == (first: Self, second: Self) -> Bool {
        switch (first, second) {
        case (.item(let first), .item(let second)): first == second
        case (
            .placeholder(let section, let edge, let slot),
            .placeholder(let otherSection, let otherEdge, let otherSlot)
        ):
            section == otherSection && edge == otherEdge && slot == otherSlot
        case (.item, .placeholder), (.placeholder, .item): false
        }
    }

    @inlinable public func hash(into hasher: inout Hasher) {
        switch self {
        case .item(let id): hasher.combine(id)
        case .placeholder(let section, let edge, let slot):
            hasher.combine(section)
            hasher.combine(edge)
            hasher.combine(slot)
        }
    }
}
