extension JSON {
    /// Returns this value changed by a JSON merge patch (RFC 7396).
    ///
    /// Objects are merged member by member, null removes a member, and any other value replaces it.
    ///
    /// - Complexity: one pass over the members of this value's objects that the patch changes, and
    ///   O(log n) for each member of the patch.
    public func merged(with patch: JSON) -> JSON {
        guard case .object(let changes) = patch else { return patch }
        let object = objectValue ?? Object()
        return .object(
            object.changed(by: changes.members) { old, change in
                change == .null ? nil : (old ?? .null).merged(with: change)
            })
    }
}

extension JSON.Object {
    /// Makes an object of members in any order. If some have the same name, the last of them wins.
    ///
    /// - Complexity: O(n log n). To add members one after another is O(n) for each.
    package init(lastOf members: [(name: ExactString, value: JSON)]) {
        // The sort is stable, so the last of several members with one name stays the last.
        let sorted = Self.isAscending(members) ? members : members.sorted { $0.name < $1.name }
        var kept: [(name: ExactString, value: JSON)] = []
        kept.reserveCapacity(sorted.count)
        for member in sorted {
            if kept.last?.name == member.name { kept.removeLast() }
            kept.append(member)
        }
        self.init(ascending: kept)
    }

    /// Returns the object with some members changed, in one pass.
    ///
    /// - Parameters:
    ///   - changes: ascending by name, each name once.
    ///   - made: returns the new value of the old value (nil if absent); nil to remove the member.
    func changed<Change>(
        by changes: [(name: ExactString, value: Change)],
        _ made: (_ old: JSON?, _ change: Change) -> JSON?
    ) -> JSON.Object {
        var result: [(name: ExactString, value: JSON)] = []
        result.reserveCapacity(members.count + changes.count)
        var start = 0
        for (name, change) in changes {
            let place = self.place(of: name, from: start)
            result.append(contentsOf: members[start..<place])
            let isThere = place < members.count && members[place].name == name
            if let value = made(isThere ? members[place].value : nil, change) {
                result.append((name, value))
            }
            start = isThere ? place + 1 : place
        }
        result.append(contentsOf: members[start...])
        return JSON.Object(ascending: result)
    }

    /// Returns the place of a name at or after `start`, or the place where it would be.
    ///
    /// The steps double until they are past the name. So a few names are found by binary search,
    /// and many names in one walk.
    private func place(of name: ExactString, from start: Int) -> Int {
        var low = start
        var high = start
        var step = 1
        while high < members.count, members[high].name < name {
            low = high + 1
            high += step
            step *= 2
        }
        high = min(high, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].name < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
