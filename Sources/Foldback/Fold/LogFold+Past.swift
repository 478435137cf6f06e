extension SharedConflicts {
    /// Returns the other projections that share their conflicts with `name` at any entry from
    /// `start` on.
    func names(
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
    ///   - projection: the projection; it is the first in the fold's `folds` or `rows`.
    ///   - past: projections that this code has besides.
    ///   - isGoingOn: whether entries after `last` will be applied.
    /// - Throws: `.lacksProjections`; as ``folded(_:_:codec:upTo:sharing:_:)``.
    package static func past(
        _ storage: any LogStorage, _ projection: ProjectionSet.Member,
        among past: ProjectionSet, _ shared: SharedConflicts, codec: any PayloadCodec,
        upTo last: LogSequence, isGoingOn: Bool = false
    ) throws(LogError) -> LogFold {
        let name = projection.name
        var others = past.sharing(with: name, shared, from: last)
        if !isGoingOn, !shared.members(at: last).contains(where: { $0.name == name }) {
            others = ProjectionSet()
        }
        let all = ProjectionSet(members: [projection] + others.members)
        if !isGoingOn,
            let fold = try pastByNotes(storage, all, codec: codec, shared, upTo: last)
        {
            return fold
        }
        let folded = try folded(storage, all, codec: codec, upTo: last, sharing: shared).fold
        try folded.requireShared(with: name, at: folded.state.sequence, path: storage.path)
        return folded
    }

    /// Throws if a view of the projection at an entry needs a projection that is not folded.
    ///
    /// - Throws: `.lacksProjections` with the names.
    package func requireShared(
        with name: ExactString, at sequence: LogSequence, path: String
    ) throws(LogError) {
        guard !shared.isEmpty, shared.members(at: sequence).contains(where: { $0.name == name })
        else { return }
        try shared.require(
            Set(folds.map(\.memberName) + rows.map(\.identity.name)), at: sequence, path: path)
    }
}
