/// The replica ids that a log has had, in order. Records name them by index.
package struct ReplicaTable: Sendable, Equatable {
    package private(set) var names: [ReplicaID]

    package init(_ names: [ReplicaID]) { self.names = names }

    /// The newest id, which new intents get (L11).
    package var current: ReplicaID { names[names.count - 1] }

    package func index(of replica: ReplicaID) -> UInt16? {
        names.lastIndex(of: replica).flatMap { UInt16(exactly: $0) }
    }

    package func has(_ replica: ReplicaID) -> Bool { names.contains(replica) }
}
