/// A further projection on a log.
public struct AdditionalProjection<Event: Sendable>: Sendable {
    let type: any EventFold.Type

    public init<P: EventFold>(_ projection: P.Type) where P.Event == Event { type = projection }
}

/// The projections that stand on a log, the store's own first.
package struct ProjectionSet: Sendable {
    private let types: [any EventFold.Type]
    package let folds: [any AnyFold]
    package let rows: [RowFold]
    /// Where each is among those of its kind.
    private let places: [Int]

    /// Traps where two different ones have one name.
    package init<P: EventFold>(_ projection: P.Type, _ also: [AdditionalProjection<P.Event>]) {
        let types = [P.self] + also.map(\.type)
        for (index, type) in types.enumerated() {
            for other in types[..<index] where other != type {
                precondition(
                    other.identity.name != type.identity.name,
                    "\(other) and \(type) are both called \(type.identity.name): name one of them")
            }
        }
        var folds: [any AnyFold] = []
        var rows: [RowFold] = []
        var places: [Int] = []
        for type in types {
            switch type {
            case let type as any Projection.Type:
                places.append(folds.count)
                folds.append(Self.fold(of: type))
            case let type as any StoredProjection.Type:
                places.append(rows.count)
                rows.append(RowFold(type))
            default:
                preconditionFailure("\(type) is neither a Projection nor a StoredProjection")
            }
        }
        self.types = types
        self.folds = folds
        self.rows = rows
        self.places = places
    }

    private static func fold<P: Projection>(of _: P.Type) -> any AnyFold { Fold<P>() }

    /// Where the projection is among those of its kind; traps where it is not on the log at `path`.
    package func place(of projection: any EventFold.Type, at path: String) -> Int {
        guard let index = types.firstIndex(where: { $0 == projection }) else {
            preconditionFailure("\(projection) is not a projection of the log \(path)")
        }
        return places[index]
    }
}
