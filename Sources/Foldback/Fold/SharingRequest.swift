/// What a store wants to share when it opens a log.
package struct SharingRequest: Sendable {
    /// The store's own projection first, without doubles.
    package let members: [SharedConflicts.Member]
    /// Nil keeps the choice that the log has.
    package let policy: ConflictPolicy?

    package init(_ members: [SharedConflicts.Member], _ policy: ConflictPolicy?) {
        var names: Set<ExactString> = []
        self.members = members.filter { names.insert($0.name).inserted }
        self.policy = policy
    }

    package var names: Set<ExactString> { Set(members.map(\.name)) }

    /// Returns the choice for a log that is opened with this request.
    ///
    /// - Parameters:
    ///   - shared: the choice that the log has.
    ///   - last: the log's last entry.
    /// - Throws: `.lacksProjections` if the store lacks a projection that shares now, and the
    ///   policy does not drop it.
    package func choice(
        insteadOf shared: SharedConflicts, at last: LogSequence, path: String
    ) throws(LogError) -> SharedConflicts {
        let now = shared.members(at: last)
        try shared.require(names.union(policy?.dropped ?? []), at: last, path: path)
        guard let policy else { return shared }
        // One projection alone has nothing to share.
        let wanted = policy.isShared && members.count > 1 ? members : []
        // Another order is not another choice.
        guard Set(wanted.map(\.name)) != Set(now.map(\.name)) else { return shared }
        var choice = shared
        choice.begin(wanted, at: last)
        return choice
    }
}

extension ProjectionSet {
    /// Returns what a store with these projections wants to share.
    package func sharing(_ policy: ConflictPolicy?) -> SharingRequest {
        SharingRequest(notes, policy)
    }

    /// Returns the notes of a new log and its shared conflicts, for the transaction that creates
    /// it.
    package func registrations(
        at time: Timestamp, conflicts: ConflictPolicy
    ) throws(LogError) -> WriteBatch {
        var batch = WriteBatch()
        let shared = try sharing(conflicts).choice(
            insteadOf: SharedConflicts(), at: 0, path: "(a new log)")
        if !shared.isEmpty { batch.writeSharedConflicts(shared) }
        for (index, (identity, kind)) in registered.enumerated() {
            batch.writeRegistered(
                RegisteredProjection(
                    number: UInt32(index + 1), identity: identity, kind: kind, openedAt: time))
        }
        return batch
    }
}
