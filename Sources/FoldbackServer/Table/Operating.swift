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
    /// - Throws: a failure that says what is wrong with the folder, or with the table. The log has all of its
    ///   decisions still.
    @discardableResult
    public static func move(
        from directory: URL, named name: SpaceName, to table: any DecisionTable,
        log: LogSources = .system
    ) async throws(TableFailure) -> Int {
        let path = directory.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else {
            throw TableFailure("no space is at \(path)")
        }
        let store: Store<Decided<R.State>>
        do throws(LogError) {
            store = try await openStore(at: directory, durability: .durable, log)
        } catch { throw TableFailure("\(error)") }
        do throws(TableFailure) {
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
    ) async throws(TableFailure) -> Int {
        guard let founding = store.view.founding else {
            throw TableFailure("the log at \(store.status.path) has no decisions of a space")
        }
        guard founding.timeline != nil || founding.replica == store.status.replica else {
            throw TableFailure(
                "the log is a copy: start the server with it once, with --adopt if it has all")
        }
        var last = try await commonPart(of: store, table, name)
        var appended = 0
        func append(through head: Position) async throws(TableFailure) {
            while last?.position ?? 0 < head {
                let group = try group(of: store, at: last?.position.next ?? 1)
                guard let stamped = try await table.append(group, after: last, in: name) else {
                    throw TableFailure("another program writes to \(name)")
                }
                last = stamped
                appended += 1
            }
        }
        let end = store.status.through
        // The mark of the log comes before the table is whole: else two servers could decide.
        if founding.timeline == nil {
            try await append(through: end)
            let mark = Founding(
                lineage: founding.lineage, replica: founding.replica,
                timeline: try await table.groups(from: end, in: name).timeline)
            let group = TableGroup(position: end.next, rows: [.founded(mark)])
            do { try await store.confirm(group.events()) } catch { throw TableFailure("\(error)") }
        }
        try await append(through: store.status.through)
        return appended
    }

    private static func group(
        of store: Store<Decided<R.State>>, at position: Position
    ) throws(TableFailure) -> TableGroup {
        do { return try store.tableGroup(at: position) } catch { throw TableFailure("\(error)") }
    }

    /// Returns the last group that log and table have both; nil if the table has none.
    ///
    /// - Throws: a failure also if the table has other groups.
    private static func commonPart(
        of store: Store<Decided<R.State>>, _ table: any DecisionTable, _ name: SpaceName
    ) async throws(TableFailure) -> TableGroup? {
        var last: TableGroup?
        while true {
            let page = try await table.groups(from: last?.position.next ?? 1, in: name)
            for found in page.groups {
                guard found.position <= store.status.through,
                    try group(of: store, at: found.position) == found
                else {
                    throw TableFailure(
                        "the table has another decision of \(name) at \(found.position)")
                }
                last = found
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
