import Foldback
import FoldbackSync

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an operator does with a table.
extension DecisionTable {
    /// Gives a space's data another name, after the table lost decisions that were answered.
    ///
    /// The servers go on from what the table has. Devices continue on new logs, and send again what they
    /// had sent; see the article "Sync an app".
    ///
    /// - Throws: a failure of the table, also if a server appended at the same time. The space may have the new
    ///   lineage or not: call it again.
    public func beginNewLineage(of space: SpaceName) async throws(TableFailure) -> Lineage {
        let page = try await groups(from: 1, in: space)
        guard let former = page.founding, former.timeline != nil else {
            throw TableFailure("no server has served a space named \(space) from this table")
        }
        let founding = Founding(
            lineage: .fresh(), replica: former.replica, timeline: page.timeline)
        guard try await append(founding, in: space) else {
            throw TableFailure("another server has appended to \(space): try again")
        }
        return founding.lineage
    }

    /// Appends a founding after the table's last group, without a log that is up to date.
    ///
    /// - Returns: whether it is there.
    func append(_ founding: Founding, in space: SpaceName) async throws(TableFailure) -> Bool {
        let first = try await groups(from: 1, in: space)
        let last = try await groups(from: max(1, first.head), in: space).groups.last
        let group = TableGroup(position: last?.position.next ?? 1, rows: [.founded(founding)])
        return try await append(group, after: last, in: space) != nil
    }
}

extension Space {
    /// Moves a space to a table: positions and lineage stay, so devices notice nothing.
    ///
    /// No server may have the space open. Afterwards the log in `directory` is a copy, and can be opened only
    /// with the table. A move that was interrupted continues when it is called again; until its end, no server
    /// serves the space.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the space's log.
    ///   - name: the name that the space gets in the table.
    ///   - table: the table, which has nothing of the space, or a part of it from an interrupted move.
    ///   - log: the source of time for the log.
    /// - Returns: the number of groups that were appended.
    /// - Throws: `.unavailable`. The log has all of its decisions still.
    @discardableResult
    public static func move(
        from directory: URL, named name: SpaceName, to table: any DecisionTable,
        log: LogSources = .system
    ) async throws(AuthorityFailure) -> Int {
        let store: Store<Decided<R.State>>
        do throws(LogError) {
            store = try await openStore(at: directory, durability: .durable, log)
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
        do throws(AuthorityFailure) {
            let count = try await move(store, named: name, to: table)
            await store.close()
            return count
        } catch {
            await store.close()
            throw error
        }
    }

    private static func move(
        _ store: Store<Decided<R.State>>, named name: SpaceName, to table: any DecisionTable
    ) async throws(AuthorityFailure) -> Int {
        guard let founding = store.view.founding else {
            throw .unavailable(after: nil, reason: "the folder has no space")
        }
        guard founding.timeline != nil || founding.replica == store.status.replica else {
            throw .unavailable(
                after: nil,
                reason:
                    "the log is a copy: start the server with it once, with --adopt if it has all")
        }
        var last = try await commonPart(of: store, table, name)
        // The mark of the log comes before the table is whole: else two servers could decide.
        var appended = 0
        func append(through head: Position) async throws(AuthorityFailure) {
            while last?.position ?? 0 < head {
                let group = try store.tableGroup(at: last?.position.next ?? 1)
                do throws(TableFailure) {
                    guard let stamped = try await table.append(group, after: last, in: name) else {
                        throw TableFailure("another program writes to \(name)")
                    }
                    last = stamped
                    appended += 1
                } catch { throw .unavailable(after: nil, reason: "\(error)") }
            }
        }
        let end = store.status.through
        if founding.timeline == nil {
            try await append(through: end)
            do {
                let page = try await table.groups(from: end, in: name)
                let mark = Founding(
                    lineage: founding.lineage, replica: founding.replica, timeline: page.timeline)
                let group = TableGroup(position: end.next, rows: [.founded(mark)])
                try await store.confirm(group.events())
            } catch { throw .unavailable(after: nil, reason: "\(error)") }
        }
        try await append(through: store.status.through)
        return appended
    }

    /// Returns the last group that log and table have both; nil if the table has none.
    ///
    /// - Throws: `.unavailable` if the table has other groups.
    private static func commonPart(
        of store: Store<Decided<R.State>>, _ table: any DecisionTable, _ name: SpaceName
    ) async throws(AuthorityFailure) -> TableGroup? {
        var last: TableGroup?
        while true {
            let page: TablePage
            do throws(TableFailure) {
                page = try await table.groups(from: last?.position.next ?? 1, in: name)
            } catch { throw .unavailable(after: nil, reason: "\(error)") }
            for group in page.groups {
                guard group.position <= store.status.through,
                    try store.tableGroup(at: group.position) == group
                else {
                    throw .unavailable(
                        after: nil,
                        reason: "the table has another decision of \(name) at \(group.position)")
                }
                last = group
            }
            guard last?.position ?? 0 < page.head, !page.groups.isEmpty else { return last }
        }
    }
}

extension Store {
    /// Reads an entry of a space's log as a group of a table.
    func tableGroup(at position: Position) throws(AuthorityFailure) -> TableGroup {
        TableGroup(
            position: position,
            try decisions(at: position, by: DecisionCodec(inner: UndecodedEvents())))
    }
}

extension Position {
    var next: Position { Position(value + 1) }
}
