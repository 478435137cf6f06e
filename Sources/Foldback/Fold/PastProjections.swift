/// Projections before the first entry, from which past views are folded (F11).
package struct PastProjections: Sendable {
    package let folds: [any AnyFold]
    package let rows: [RowFold]

    package init(_ folds: [any AnyFold], _ rows: [RowFold]) {
        self.folds = folds
        self.rows = rows
    }

    package init<Event>(_ projections: [AdditionalProjection<Event>]) {
        let set = ProjectionSet(projections)
        self.init(set.folds, set.rows)
    }

    /// The projections as the log notes them if they share their conflicts.
    package var members: [SharedConflicts.Member] {
        folds.map { SharedConflicts.Member(name: $0.memberName, kind: .value) }
            + rows.map { SharedConflicts.Member(name: $0.identity.name, kind: .rows) }
    }

    /// Returns those of these projections that share their conflicts with `name` at any entry from
    /// `start` on, without `name` itself.
    package func sharing(
        with name: ExactString, _ shared: SharedConflicts, from start: LogSequence
    ) -> PastProjections {
        let names = shared.names(sharingWith: name, from: start)
        return PastProjections(
            folds.filter { fold in
                // A stored projection is used itself, not the value that stands for it.
                names.contains(fold.memberName)
                    && !rows.contains { $0.identity.name == fold.memberName }
            }, rows.filter { names.contains($0.identity.name) })
    }
}

extension SharedConflicts {
    /// Returns the other projections that share their conflicts with `name` at any entry from
    /// `start` on.
    fileprivate func names(
        sharingWith name: ExactString, from start: LogSequence
    ) -> Set<ExactString> {
        let first = period(at: start).map { [$0] } ?? []
        let members = (first + periods.filter { $0.start > start }).map { $0.members.map(\.name) }
        return Set(members.filter { $0.contains(name) }.joined()).subtracting([name])
    }
}

extension LogFold {
    /// Returns the log folded up to an entry with one projection, and with those that share their
    /// conflicts with it there (F9, F11).
    ///
    /// - Parameters:
    ///   - fold: the projection, if its state is a value; it is the first in `folds`.
    ///   - rows: the projection, if it is stored; it is the first in `rows`.
    ///   - past: projections that this code has besides.
    ///   - isGoingOn: whether entries after `last` will be applied.
    /// - Throws: `.lacksProjections`; as ``folded(_:folds:rows:codec:upTo:sharing:_:)``.
    package static func past(
        _ storage: any LogStorage, _ fold: (any AnyFold)?, _ rows: RowFold? = nil,
        among past: PastProjections, _ shared: SharedConflicts, codec: any PayloadCodec,
        upTo last: LogSequence, isGoingOn: Bool = false
    ) throws(FoldbackError) -> LogFold {
        guard let name = fold?.memberName ?? rows?.identity.name else {
            preconditionFailure("no projection is folded")
        }
        var others = past.sharing(with: name, shared, from: last)
        if !isGoingOn, !shared.members(at: last).contains(where: { $0.name == name }) {
            others = PastProjections([], [])
        }
        let folded = try folded(
            storage, folds: (fold.map { [$0] } ?? []) + others.folds,
            rows: (rows.map { [$0] } ?? []) + others.rows, codec: codec, upTo: last,
            sharing: shared
        ).fold
        try folded.requireShared(with: name, at: folded.state.sequence, path: storage.path)
        return folded
    }

    /// Throws if a view of the projection at an entry needs a projection that is not folded.
    ///
    /// - Throws: `.lacksProjections` with the names.
    package func requireShared(
        with name: ExactString, at sequence: LogSequence, path: String
    ) throws(FoldbackError) {
        guard !shared.isEmpty, shared.members(at: sequence).contains(where: { $0.name == name })
        else { return }
        try shared.require(
            Set(folds.map(\.memberName) + rows.map(\.identity.name)), at: sequence, path: path)
    }
}
