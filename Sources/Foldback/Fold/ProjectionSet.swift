/// A projection on a log beside the store's own, for the parameter `also` when a ``Store`` is opened.
///
/// ```swift
/// let store = try await Store.open(
///     at: directory, Likes.self, also: [AdditionalProjection(Statistics.self)],
///     confirmedBy: .downlink, durability: .durable)
/// print(store.projected(Statistics.self).view)
/// ```
public struct AdditionalProjection<Event: Sendable>: Sendable {
    package let type: any EventFold.Type

    /// Names the projection. It must be a ``Projection`` or a ``StoredProjection``.
    public init<P: EventFold>(_ projection: P.Type) where P.Event == Event { type = projection }
}

/// The projections on a log, the store's own first.
package struct ProjectionSet: Sendable {
    private let types: [any EventFold.Type]
    /// The projections whose state is a value, before the first entry.
    package let folds: [any AnyFold]
    /// The stored projections, before the first entry.
    package let rows: [RowFold]
    /// The projections as the log notes them if they share their conflicts.
    package let members: [SharedConflicts.Member]
    /// For each projection, its place in `folds` or `rows`.
    private let places: [Int]

    /// Creates the set of the store's own projection and the additional projections.
    ///
    /// Traps if two different types have the same name, or if a type is neither a ``Projection``
    /// nor a ``StoredProjection``.
    package init<P: EventFold>(_ projection: P.Type, _ also: [AdditionalProjection<P.Event>]) {
        self.init(types: [P.self] + also.map(\.type))
    }

    /// Creates the set of some of the projections on a log.
    package init<Event>(_ projections: [AdditionalProjection<Event>]) {
        self.init(types: projections.map(\.type))
    }

    private init(types: [any EventFold.Type]) {
        for (index, type) in types.enumerated() {
            for other in types[..<index] where other != type {
                precondition(
                    other.identity.name != type.identity.name,
                    "\(other) and \(type) are both named \(type.identity.name); rename one of them"
                )
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
        members = types.map { type in
            // A projection that stands for a stored projection is noted as this.
            let isValue = type is any Projection.Type && !(type is any StandIn.Type)
            return SharedConflicts.Member(
                name: type.memberName, kind: isValue ? .value : .rows)
        }
        self.folds = folds
        self.rows = rows
        self.places = places
    }

    private static func fold<P: Projection>(of _: P.Type) -> any AnyFold { Fold<P>() }

    /// Returns the projection's place in `folds` or `rows`. Traps if the log at `path` was not
    /// opened with it.
    package func place(of projection: any EventFold.Type, at path: String) -> Int {
        guard let index = types.firstIndex(where: { $0 == projection }) else {
            preconditionFailure(
                "the log \(path) was opened without \(projection); open the store with it")
        }
        return places[index]
    }
}
