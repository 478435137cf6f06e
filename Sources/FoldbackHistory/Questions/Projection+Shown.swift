import Foldback

extension Projection {
    /// The value at a place of the state as ``JSON/init(describing:)`` shows it.
    package func shown(at place: JSONPointer) -> JSON? { JSON.described(self, at: place) }
}
