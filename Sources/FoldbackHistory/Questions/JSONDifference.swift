import Foldback

/// A place where two JSON values differ.
public struct JSONDifference: Hashable, Sendable {
    public let place: JSONPointer
    /// The value in the first; nil if there is none.
    public let old: JSON?
    /// The value in the second; nil if there is none.
    public let new: JSON?
}

extension JSON {
    /// Returns where `new` differs from this value, in the order of places. Objects are compared
    /// member by member, arrays element by element, and other values as a whole.
    ///
    /// - Complexity: O(n) in both.
    public func differences(to new: JSON) -> [JSONDifference] {
        var found: [JSONDifference] = []
        Self.compare(self, new, at: JSONPointer([]), &found)
        return found
    }

    static func compare(
        _ old: JSON?, _ new: JSON?, at place: JSONPointer, _ found: inout [JSONDifference]
    ) {
        switch (old, new) {
        case (.object(let a), .object(let b)):
            var left = a.members[...]
            var right = b.members[...]
            while let name = [left.first?.name, right.first?.name].compactMap({ $0 }).min() {
                let (old, new) = (left.first, right.first)
                let isOld = old?.name == name
                let isNew = new?.name == name
                if isOld { left.removeFirst() }
                if isNew { right.removeFirst() }
                compare(
                    isOld ? old?.value : nil, isNew ? new?.value : nil, at: place.appending(name),
                    &found)
            }
        case (.array(let a), .array(let b)):
            for index in 0..<max(a.count, b.count) {
                compare(
                    index < a.count ? a[index] : nil, index < b.count ? b[index] : nil,
                    at: place.appending(ExactString(String(index))), &found)
            }
        case (let a, let b):
            if a != b { found.append(JSONDifference(place: place, old: a, new: b)) }
        }
    }
}
