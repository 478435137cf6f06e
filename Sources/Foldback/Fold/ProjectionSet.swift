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

/// The projections on a log before its first entry, the store's own first.
package struct ProjectionSet: Sendable {
    /// One projection. Its state is a value, or it is rows of the log.
    package struct Member: Sendable {
        package enum Start: Sendable {
            case value(any AnyFold)
            case rows(RowFold)
        }

        let type: any EventFold.Type
        fileprivate(set) var start: Start

        fileprivate init(_ type: any EventFold.Type) {
            self.type = type
            switch type {
            case let type as any Projection.Type: start = .value(Self.fold(of: type))
            case let type as any StoredProjection.Type: start = .rows(RowFold(type))
            default: preconditionFailure("\(type) is neither a Projection nor a StoredProjection")
            }
        }

        /// - Parameter fold: the fold of a projection whose state is a value.
        package init<P: Projection>(_ fold: Fold<P>) {
            type = P.self
            start = .value(fold)
        }

        /// The projection without its rows.
        package init<P: StoredProjection>(rowsOf projection: P.Type) {
            type = P.self
            start = .rows(RowFold(P.self))
        }

        private static func fold<P: Projection>(of _: P.Type) -> any AnyFold { Fold<P>() }

        var identity: ProjectionIdentity {
            switch start {
            case .value(let fold): fold.identity
            case .rows(let fold): fold.identity
            }
        }

        /// The name under which the projection shares its conflicts.
        package var name: ExactString {
            switch start {
            case .value(let fold): fold.memberName
            case .rows(let fold): fold.identity.name
            }
        }

        var isStored: Bool {
            if case .rows = start { return true }
            return false
        }

        /// The projection as the log notes it if it shares its conflicts. A projection that stands
        /// for a stored projection is noted as this.
        var note: SharedConflicts.Member {
            let isRows = isStored || type is any StandIn.Type
            return SharedConflicts.Member(name: name, kind: isRows ? .rows : .value)
        }
    }

    package private(set) var members: [Member]

    package init(members: [Member] = []) { self.members = members }

    /// Creates the set of the store's own projection and the additional projections.
    ///
    /// Traps if two different types have the same name, or if a type is neither a ``Projection``
    /// nor a ``StoredProjection``.
    package init<P: EventFold>(_ projection: P.Type, _ also: [AdditionalProjection<P.Event>] = []) {
        self.init([AdditionalProjection(projection)] + also)
    }

    /// Creates the set of some of the projections on a log.
    package init<Event>(_ projections: [AdditionalProjection<Event>]) {
        let types = projections.map(\.type)
        for (index, type) in types.enumerated() {
            for other in types[..<index] where other != type {
                precondition(
                    other.identity.name != type.identity.name,
                    "\(other) and \(type) are both named \(type.identity.name); rename one of them"
                )
            }
        }
        members = types.map { Member($0) }
    }

    /// Creates the set of a store's projections.
    ///
    /// Traps if several of them say how to undo an event (F21), unless they say the same. Tools read
    /// a log with several such projections, because they undo nothing.
    package static func ofStore<P: EventFold>(
        _ projection: P.Type, _ also: [AdditionalProjection<P.Event>]
    ) -> ProjectionSet {
        let types = [AdditionalProjection(projection)].map(\.type) + also.map(\.type)
        let undoable = types.filter { $0 is any Undoable.Type || $0 is any UndoableRows.Type }
        let sources = Set(
            undoable.map {
                ($0 as? any SharesInverse.Type)?.inverseOwner ?? $0.identity.name
            })
        precondition(
            sources.count <= 1,
            "\(undoable) all say how to undo an event; keep that in one of them (F21)")
        return ProjectionSet(projection, also)
    }

    /// The projections whose state is a value.
    package var folds: [any AnyFold] {
        members.compactMap { if case .value(let fold) = $0.start { fold } else { nil } }
    }

    /// The stored projections.
    package var rows: [RowFold] {
        members.compactMap { if case .rows(let fold) = $0.start { fold } else { nil } }
    }

    /// The names under which the projections share their conflicts.
    package var names: Set<ExactString> { Set(members.map(\.name)) }

    /// The projections as the log notes them if they share their conflicts.
    package var notes: [SharedConflicts.Member] { members.map(\.note) }

    /// The projections, as they are registered.
    package var registered: [(ProjectionIdentity, RegisteredProjection.Kind)] {
        folds.map { ($0.identity, .value) } + rows.map { ($0.identity, .rows) }
    }

    /// Returns the place of a projection in ``folds`` or in ``rows``. Traps if the log at `path` was
    /// not opened with it.
    package func place(of projection: any EventFold.Type, at path: String) -> Int {
        guard let index = members.firstIndex(where: { $0.type == projection }) else {
            preconditionFailure(
                "the log \(path) was opened without \(projection); open the store with it")
        }
        return members[..<index].count { $0.isStored == members[index].isStored }
    }

    /// Returns the projections with other states of the stored projections.
    ///
    /// - Parameter change: gets the place of each stored projection in ``rows``, and its fold.
    package func withRows<E: Error>(
        _ change: (Int, inout RowFold) throws(E) -> Void
    ) throws(E) -> ProjectionSet {
        var set = self
        var place = 0
        for index in set.members.indices {
            guard case .rows(var fold) = set.members[index].start else { continue }
            try change(place, &fold)
            set.members[index].start = .rows(fold)
            place += 1
        }
        return set
    }

    /// The projections whose state is a value.
    package var withoutRows: ProjectionSet {
        ProjectionSet(members: members.filter { !$0.isStored })
    }

    /// The projections, with a value in memory for each stored one, as a base has them.
    var inMemory: ProjectionSet {
        func member<P: StoredProjection>(_: P.Type) -> Member { Member(Fold<RowsInMemory<P>>()) }
        return ProjectionSet(
            members: members.map { old in
                (old.type as? any StoredProjection.Type).map { member($0) } ?? old
            })
    }

    /// Returns those of these projections that share their conflicts with `name` at any entry from
    /// `start` on, without `name` itself.
    package func sharing(
        with name: ExactString, _ shared: SharedConflicts, from start: LogSequence
    ) -> ProjectionSet {
        let names = shared.names(sharingWith: name, from: start)
        let stored = Set(members.filter(\.isStored).map(\.name))
        return ProjectionSet(
            members: members.filter {
                // A stored projection is used itself, not the value that stands for it.
                names.contains($0.name) && ($0.isStored || !stored.contains($0.name))
            })
    }
}
