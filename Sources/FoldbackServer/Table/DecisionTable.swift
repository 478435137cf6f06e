import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The decisions of spaces in a database that several servers share.
///
/// With a table, each server's own log of a space is a copy of the table's groups. A server decides on its
/// copy, and appends the group to the table. If another server was faster, nothing of the group is there:
/// the server reads what the others have decided, and decides again. So all servers together make one
/// sequence of decisions (N1).
///
/// FoldbackPostgres has the table for PostgreSQL. All functions may be called from any task, also at once.
public protocol DecisionTable: Sendable {
    /// Appends a group, whole or not at all, and returns when no failure of one machine can lose it.
    ///
    /// - Parameters:
    ///   - group: the group. Its position is the one after that of `head`.
    ///   - head: the newest group that the caller knows; nil if it knows none.
    ///   - space: the space's name.
    /// - Returns: the group with its stamp. Nil if its position is taken, or if the group at the position
    ///   before it is not `head`: then nothing of the group is there.
    /// - Throws: a failure after which the group may be there or not. It can even appear later, unless the
    ///   position is taken then.
    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) async throws(TableFailure) -> TableGroup?

    /// Returns whole groups from a position on, ascending and without gaps: at least one if there is one, and
    /// not more than a few megabytes unless one group has more. They may still be lost, until ``barrier()`` has
    /// returned.
    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage

    /// Returns when no failure of one machine can lose what was read before the call on the same timeline.
    ///
    /// - Returns: the database's timeline. If it is another one than that of a page, the page may have been read
    ///   from a machine that was replaced since, and nothing is known of it.
    func barrier() async throws(TableFailure) -> UInt32

    /// Returns the names of spaces to which others may have appended; nil stands for every space.
    ///
    /// A hint can be missing. So every few seconds the table compares its heads with those of the caller, and
    /// names the spaces that differ.
    ///
    /// - Parameter heads: returns the positions that the caller has. The stream ends when its caller ends it.
    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?>
}

/// Groups of a table, and what the table knows of the space.
public struct TablePage: Sendable {
    /// Ascending and without gaps. Empty if nothing is at the position.
    public let groups: [TableGroup]
    /// The position of the space's newest group; 0 if it has none.
    public let head: Position
    /// The newest founding of the space; nil if the table has nothing of the space.
    public let founding: Founding?
    /// The database's timeline: a number that grows when a standby takes over, or a backup is put back.
    public let timeline: UInt32

    public init(groups: [TableGroup], head: Position, founding: Founding?, timeline: UInt32) {
        self.groups = groups
        self.head = head
        self.founding = founding
        self.timeline = timeline
    }
}

/// The database could not be asked, or did not say whether it did what was asked.
public struct TableFailure: Error, Hashable, CustomStringConvertible {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }

    public var description: String { reason }
}

extension TableFailure: LocalizedError {
    public var errorDescription: String? { description }
}
