/// A further projection on a log.
public struct AdditionalProjection<Event: Sendable>: Sendable {
    let type: any EventFold.Type

    public init<P: EventFold>(_ projection: P.Type) where P.Event == Event { type = projection }
}

/// The projections that stand on a log, the store's own first.
package struct Standing: Sendable {
    private let types: [any EventFold.Type]

    /// Traps where two different ones have one name.
    package init<P: EventFold>(_ projection: P.Type, _ also: [AdditionalProjection<P.Event>]) {
        types = [P.self] + also.map(\.type)
        for (index, type) in types.enumerated() {
            for other in types[..<index] where other != type {
                precondition(
                    other.identity.name != type.identity.name,
                    "\(other) and \(type) are both called \(type.identity.name): name one of them")
            }
        }
    }

    package var folds: [any AnyFold] { types.compactMap { $0.engine.fold } }
    package var rows: [RowFold] { types.compactMap { $0.engine.rows } }

    /// Where the projection is among those of its kind; traps where it is not on the log at `path`.
    package func place(of projection: any EventFold.Type, at path: String) -> Int {
        guard let index = types.firstIndex(where: { $0 == projection }) else {
            preconditionFailure("\(projection) is not a projection of the log \(path)")
        }
        let isStored = projection.engine.rows != nil
        return types[..<index].count { ($0.engine.rows != nil) == isStored }
    }
}

/// How a store folds a projection. ``Projection`` and ``StoredProjection`` give it; nobody else has to.
public struct FoldEngine: Sendable {
    let fold: (any AnyFold)?
    let rows: RowFold?
}

extension Projection {
    public static var engine: FoldEngine { FoldEngine(fold: Fold<Self>(), rows: nil) }
}

extension StoredProjection {
    public static var engine: FoldEngine { FoldEngine(fold: nil, rows: RowFold(Self.self)) }
}
