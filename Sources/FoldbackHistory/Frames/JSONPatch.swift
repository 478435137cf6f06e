import Foldback

/// A change of a JSON value, as a list of operations (RFC 6902, JSON Patch). It uses only `add`,
/// `replace` and `remove`.
package struct JSONPatch: Hashable, Sendable {
    package private(set) var operations: [Operation] = []

    package struct Operation: Hashable, Sendable {
        package let kind: Kind
        package let place: JSONPointer
        /// Nil for `remove`.
        package let value: JSON?
    }

    package enum Kind: String, Sendable {
        case add
        case replace
        case remove
    }

    package init() {}

    package var isEmpty: Bool { operations.isEmpty }

    package mutating func add(_ value: JSON, at place: JSONPointer) {
        operations.append(Operation(kind: .add, place: place, value: value))
    }

    package mutating func replace(_ place: JSONPointer, with value: JSON) {
        operations.append(Operation(kind: .replace, place: place, value: value))
    }

    package mutating func remove(_ place: JSONPointer) {
        operations.append(Operation(kind: .remove, place: place, value: nil))
    }

    /// Adds the operations that change `old` into `new` at a place. Nil is an absent member.
    ///
    /// Objects are compared member by member. Of an array, the equal elements at its start and its
    /// end stay, and the elements between are compared one by one.
    ///
    /// - Complexity: O(n) in both values.
    package mutating func change(_ old: JSON?, to new: JSON?, at place: JSONPointer) {
        switch (old, new) {
        case (nil, nil): break
        case (nil, let new?): add(new, at: place)
        case (_?, nil): remove(place)
        case (.object(let a), .object(let b)): change(a, to: b, at: place)
        case (.array(let a), .array(let b)): change(a, to: b, at: place)
        case (let old?, let new?): if old != new { replace(place, with: new) }
        }
    }

    /// Adds the operations that change an object into another, except for one member.
    package mutating func change(
        _ old: JSON, to new: JSON, at place: JSONPointer, except name: ExactString
    ) {
        guard case .object(var old) = old, case .object(var new) = new else { return }
        (old[name], new[name]) = (nil, nil)
        change(old, to: new, at: place)
    }

    private mutating func change(_ old: JSON.Object, to new: JSON.Object, at place: JSONPointer) {
        var left = old.members[...]
        var right = new.members[...]
        while let name = [left.first?.name, right.first?.name].compactMap({ $0 }).min() {
            let before = left.first?.name == name ? left.removeFirst().value : nil
            let after = right.first?.name == name ? right.removeFirst().value : nil
            change(before, to: after, at: place.appending(name))
        }
    }

    private mutating func change(_ old: [JSON], to new: [JSON], at place: JSONPointer) {
        let start = zip(old, new).prefix { $0 == $1 }.count
        let rest = zip(old[start...].reversed(), new[start...].reversed())
        let end = rest.prefix { $0 == $1 }.count
        let (oldCount, newCount) = (old.count - start - end, new.count - start - end)
        func element(_ offset: Int) -> JSONPointer {
            place.appending(ExactString(String(start + offset)))
        }
        for offset in 0..<min(oldCount, newCount) {
            change(old[start + offset], to: new[start + offset], at: element(offset))
        }
        for offset in (min(oldCount, newCount)..<oldCount).reversed() { remove(element(offset)) }
        for offset in min(oldCount, newCount)..<max(newCount, oldCount) where offset < newCount {
            add(new[start + offset], at: element(offset))
        }
    }

    /// The operations as RFC 6902 writes them.
    package var json: JSON {
        .array(
            operations.map { operation in
                var object: JSON.Object = [
                    "op": .string(operation.kind.rawValue), "path": .string("\(operation.place)"),
                ]
                object["value"] = operation.value
                return .object(object)
            })
    }
}
