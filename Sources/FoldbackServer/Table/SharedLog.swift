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
        if let head, head.stamp == nil { try await compareLastGroups(before: head) }
        while try await takePage() {}
    }

    /// Compares the groups before the head of a log that was just opened. After a loss, the table can have the
    /// same newest group on other ones: a device sent it again.
    private func compareLastGroups(before head: TableGroup) async throws(SharedLogObstacle) {
        var next = Position(head.position.value - min(31, head.position.value - 1))
        while next < head.position {
            let page = try await page(from: next)
            // If there is none, the head is not there either.
            guard let last = page.groups.last else { return }
            for group in page.groups where group.position < head.position {
                let own: TableGroup
                do { own = try store.tableGroup(at: group.position) } catch { throw .failed(error) }
                guard own == group else { try await reportOther(than: own, page) }
            }
            next = last.position.next
        }
    }

    /// - Returns: whether there may be more.
    private mutating func takePage() async throws(SharedLogObstacle) -> Bool {
        let page = try await page(from: head?.position ?? 1)
        guard let founding = try await requireShared(page) else {
            return try await !note(nil, on: page)
        }
        let isFirst = head == nil
        // The head again, with its stamp.
        if !isFirst { head = page.groups.first }
        let news = page.groups.dropFirst(isFirst ? 0 : 1)
        for group in news {
            guard group.position == head?.position.next ?? 1 else { throw .gap(after: head) }
            try await confirm(group, as: group.events())
        }
        if let head, head.position < page.head {
            guard !news.isEmpty else { throw .gap(after: head) }
            return true
        }
        if let loss = founding.loss { throw .lost(loss) }
        // This log has all that it had, so nothing is lost on the new timeline as far as it knows.
        return founding.timeline == page.timeline ? false : try await !note(founding, on: page)
    }

    private func page(from position: Position) async throws(SharedLogObstacle) -> TablePage {
        do throws(TableFailure) {
            // A primary that was replaced, and still answers, can be on the other connection.
            for _ in 0..<3 {
                let page = try await table.groups(from: position, in: name)
                let timeline = try await table.barrier()
                if timeline == page.timeline { return page }  // mutant: other-timeline
            }
            throw TableFailure("the database changes its timeline")
        } catch { throw SharedLogObstacle(error) }
    }

    /// Compares the page with the log.
    ///
    /// - Returns: the founding of the table's groups; nil if neither side has a group.
    private func requireShared(
        _ page: TablePage
    ) async throws(SharedLogObstacle) -> Founding? {
        if let head {
            let first = page.groups.first
            let isSame = first == head && (head.stamp ?? first?.stamp) == first?.stamp
            guard isSame else { try await reportOther(than: head, page) }  // mutant: own-head
            guard page.founding?.timeline != nil else { throw .refused(Self.isMoving) }
            return page.founding
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

    /// Says why the table does not have a group of the log.
    private func reportOther(
        than group: TableGroup, _ page: TablePage
    ) async throws(SharedLogObstacle) -> Never {
        let own = store.view.founding
        guard own?.timeline != nil else {
            throw .refused(
                "the folder has decisions that no table has: move them with the command 'move'")
        }
        guard let founding = page.founding, founding.lineage != own?.lineage else {
            try await reportLoss(of: group, page)
        }
        guard founding.timeline != nil else { throw .refused(Self.isMoving) }
        // An older state of the table was put back, from before the log's lineage began.
        if try hasHad(founding.lineage) { try await reportLoss(of: group, page) }
        throw .otherData
    }

    /// Whether the log has a founding of a lineage. If the lineage is another one than its own, it has ended
    /// there.
    ///
    /// - Complexity: reads the log up to the founding.
    private func hasHad(_ lineage: Lineage) throws(SharedLogObstacle) -> Bool {
        var next: Position = 1
        while let head, next <= head.position {
            let group: TableGroup
            do { group = try store.tableGroup(at: next) } catch { throw .failed(error) }
            for case .founded(let founding) in group.rows where founding.lineage == lineage {
                return true
            }
            next = next.next
        }
        return false
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
        let state = first.head < head.position ? "ends at \(first.head)" : "has others there"
        let loss = """
            the log of replica \(store.status.replica) has decisions at position \(head.position), and \
            the table \(state)
            """
        if let loss = first.founding?.loss { throw .lost(loss) }
        guard let own = store.view.founding else { throw .lost(loss) }
        let noted = Founding(
            lineage: own.lineage, replica: own.replica, timeline: first.timeline, loss: loss)
        // If another server was faster, the next attempt notes it.
        do { _ = try await table.append(noted, in: name) } catch { throw SharedLogObstacle(error) }
        throw .lost(loss)
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

    static func lost(_ loss: String) -> SharedLogObstacle {
        .refused("the table lost decisions: \(loss)")
    }

    static func gap(after head: TableGroup?) -> SharedLogObstacle {
        .refused("the table lacks the group after position \(head?.position ?? 0): restore it")
    }

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
