import Foldback
import FoldbackSync

/// A space's log as a copy of the space's groups in a table.
///
/// What is read from the table is believed only after a barrier: until then, a row of another server can
/// still be lost.
struct SharedLog<R: Rules>: Sendable {
    let table: any DecisionTable
    let name: SpaceName
    private let store: Store<Decided<R.State>>
    /// The log's newest group; nil in an empty log.
    private(set) var head: TableGroup?

    init(
        of store: Store<Decided<R.State>>, named name: SpaceName, in table: any DecisionTable
    ) throws(SharedLogObstacle) {
        self.store = store
        self.name = name
        self.table = table
        let through = store.status.through
        guard through > 0 else { return }
        do { head = try store.tableGroup(at: through) } catch { throw .failed(error) }
    }

    /// Appends a group to the table, and then to the log.
    ///
    /// - Returns: whether it is there. False if another server was faster; then ``catchUp()`` helps.
    mutating func append(
        _ group: TableGroup, as events: [ConfirmedEvent<DecisionEvent<R.State.Event>>]
    ) async throws(SharedLogObstacle) -> Bool {
        let stamped: TableGroup?
        do { stamped = try await table.append(group, after: head, in: name) } catch {
            throw SharedLogObstacle(error)
        }
        guard let stamped else { return false }
        try await confirm(stamped, as: events)
        return true
    }

    private mutating func confirm(
        _ group: TableGroup, as events: [ConfirmedEvent<DecisionEvent<R.State.Event>>]
    ) async throws(SharedLogObstacle) {
        do { try await store.confirm(events) } catch {
            throw SharedLogObstacle(error)
        }
        head = group
    }

    // MARK: Catching up

    /// Copies all groups that the log lacks, and founds the space if nobody has.
    ///
    /// - Throws: an obstacle. The log then has a part of the groups, and never a wrong one.
    mutating func catchUp() async throws(SharedLogObstacle) {
        while try await takePage() {}
    }

    /// - Returns: whether there may be more.
    private mutating func takePage() async throws(SharedLogObstacle) -> Bool {
        let page = try await page(from: head?.position ?? 1)
        let founding = try await requireShared(page)
        // The same group, with its stamp.
        if let head, let first = page.groups.first, first == head { self.head = first }
        guard let founding else { return try await !note(nil, on: page) }
        for group in page.groups where group.position > head?.position ?? 0 {
            try await confirm(group, as: group.events())
        }
        if page.hasMore { return true }
        if let loss = founding.loss { throw .refused("the table lost decisions: \(loss)") }
        // This log has all that it had, so nothing is lost on the new timeline as far as it knows.
        return founding.timeline == page.timeline ? false : try await !note(founding, on: page)
    }

    private func page(from position: Position) async throws(SharedLogObstacle) -> TablePage {
        do {
            while true {
                let page = try await table.groups(from: position, in: name)
                let timeline = try await table.barrier()
                if timeline == page.timeline { return page }  // mutant: other-timeline
            }
        } catch { throw SharedLogObstacle(error) }
    }

    /// Compares the page with the log.
    ///
    /// - Returns: the founding of the table's groups; nil if neither side has a group.
    private func requireShared(
        _ page: TablePage
    ) async throws(SharedLogObstacle) -> Founding? {
        let own = store.view.founding
        if let head {
            if page.groups.first == head {  // mutant: own-head
                guard page.founding?.timeline != nil else { throw .refused(Self.isMoving) }
                return page.founding
            }
            guard own?.timeline != nil else {
                throw .refused(
                    "the folder has decisions that no table has: move them with the command 'move'")
            }
            guard let founding = page.founding, founding.lineage != own?.lineage else {
                try await reportLoss(of: head, page)
            }
            guard founding.timeline != nil else { throw .refused(Self.isMoving) }
            throw .otherData
        }
        guard let founding = page.founding else { return nil }
        guard let timeline = founding.timeline else { throw .refused(Self.isMoving) }
        guard timeline == page.timeline else {  // mutant: new-timeline
            throw .refused(
                "the database is on timeline \(page.timeline) and the space on \(timeline): a server "
                    + "with an earlier log of the space must compare them, or run 'new-lineage'"
            )
        }
        return founding
    }

    private static var isMoving: String {
        "a backend serves this space, or the command 'move' has not moved it whole: run it again"
    }

    // MARK: Foundings

    /// Appends a founding: the space's first one, or one that says that nothing is lost on a new timeline.
    private mutating func note(
        _ founding: Founding?, on page: TablePage
    ) async throws(SharedLogObstacle) -> Bool {
        let noted = Founding(
            lineage: founding?.lineage ?? .fresh(),
            replica: founding?.replica ?? store.status.replica, timeline: page.timeline)
        let group = TableGroup(position: head?.position.next ?? 1, rows: [.founded(noted)])
        return try await append(group, as: group.events())
    }

    /// Notes in the table that it lost what this log has, so that no server decides on what is left.
    private func reportLoss(
        of head: TableGroup, _ first: TablePage
    ) async throws(SharedLogObstacle) -> Never {
        let loss = "a server has another decision at position \(head.position)"
        let refusal = SharedLogObstacle.refused("the table lost decisions: \(loss)")
        if first.founding?.loss != nil { throw refusal }
        guard let own = store.view.founding else { throw refusal }
        let noted = Founding(
            lineage: own.lineage, replica: own.replica, timeline: first.timeline, loss: loss)
        // If another server was faster, the next attempt notes it.
        do { _ = try await table.append(noted, in: name) } catch { throw SharedLogObstacle(error) }
        throw refusal
    }
}

/// Why a log cannot follow its table now.
enum SharedLogObstacle: Error {
    /// The table or the log could not be used. A later attempt may succeed.
    case failed(AuthorityFailure)
    /// Nobody may decide or read until an operator has acted.
    case refused(String)
    /// The table has other data, with another lineage. The log is of no use any more.
    case otherData

    init(_ failure: TableFailure) {
        self = .failed(
            .unavailable(
                after: .seconds(1), reason: "the table of decisions cannot be used: \(failure)"))
    }

    init(_ error: CommandError) {
        self = .failed(.unavailable(after: nil, reason: "\(error)"))
    }

    /// What a device is told.
    var failure: AuthorityFailure {
        switch self {
        case .failed(let failure): failure
        case .refused(let reason): .unavailable(after: SpaceLimits.refusal, reason: reason)
        case .otherData:
            .unavailable(after: .seconds(1), reason: "the space has another lineage now")
        }
    }
}
