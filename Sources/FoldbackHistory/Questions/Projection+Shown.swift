import Foldback

extension Projection {
    /// Returns the value at a place of the state as ``/Foldback/JSON/init(describing:)`` shows it;
    /// nil if there is none.
    package func shown(at place: JSONPointer) -> JSON? { JSON.described(self, at: place) }
}
