import Foldback

extension Projection {
    /// Returns the value at a place of the state as ``/Foldback/JSON/init(describing:)`` shows it;
    /// nil if there is none.
    package func shown(at place: JSONPointer) -> JSON? { JSON.described(self, at: place) }

    /// Returns the parts of the described states that differ, if the projection finds them without
    /// the whole descriptions; nil if not.
    func differingParts(to new: Self) -> [(place: JSONPointer, old: JSON?, new: JSON?)]? {
        func parts<Q: PartComparing>(
            _: Q.Type
        ) -> [(place: JSONPointer, old: JSON?, new: JSON?)]? {
            guard let old = self as? Q, let new = new as? Q else { return nil }
            return Q.differingParts(old, new)
        }
        guard let comparing = Self.self as? any PartComparing.Type else { return nil }
        return parts(comparing)
    }
}
