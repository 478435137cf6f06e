import Foldback
import FoldbackSync

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What can keep a space from deciding, and may change while it is open.
struct SpaceHealth: Sendable {
    /// Whether this code leaves a part of some effect unread.
    var isReadInPart: Bool
    /// Why the table could not be used the last time; nil if it could. The space shows what it has.
    var trouble: String?
    /// Why the table took no group the last time; nil if it did, or if the space has grown since.
    var appendTrouble: String?
    /// Why the space serves nothing until an operator has acted; nil if it does.
    var refusal: String?
    /// Whether the table has other data now, so that the space must be opened again.
    var isOutdated = false
}

/// What became of a group.
enum CommitEnd {
    case kept
    /// Another server was faster, and nothing of the group is there.
    case lost
    /// Nobody knows. If the group is there, its intents have their verdicts once the log has caught up.
    case unknown(AuthorityFailure)
}

extension Space {
    /// Opens a copy of a space whose decisions are in a table, and brings it up to date.
    ///
    /// The log in `directory` is a cache: if it is gone, it is made again from the table. It is written
    /// without waiting for the disk. If the space has another lineage since, the log is kept beside as
    /// `DIRECTORY~1`, and a new one is made.
    ///
    /// - Parameters:
    ///   - directory: the file URL of a directory for this log alone. Each server has its own.
    ///   - name: the space's name in the table.
    ///   - rules: the app's decisions.
    ///   - table: the decisions of all servers.
    ///   - sources: the source of time for decisions and long polls.
    ///   - log: the source of time and of fresh replica ids for the log.
    /// - Throws: `.unavailable` if the log cannot be opened, if the table cannot be asked, or if it lacks
    ///   something that the log has. Nothing stays open.
    public static func open(
        at directory: URL, named name: SpaceName, rules: R, over table: any DecisionTable,
        sources: SyncSources = .system, log: LogSources = .system
    ) async throws(AuthorityFailure) -> Space {
        try await open(
            at: directory, named: name, rules: rules, over: table, sources: sources, log: log,
            ringing: Signal())
    }

    static func open(
        at directory: URL, named name: SpaceName, rules: R, over table: any DecisionTable,
        sources: SyncSources, log: LogSources, ringing bell: Signal
    ) async throws(AuthorityFailure) -> Space {
        while true {
            let store: Store<Decided<R.State>>
            do throws(LogError) {
                store = try await openStore(at: directory, durability: .relaxed, log)
            } catch { throw .unavailable(after: nil, reason: "\(error)") }
            do throws(SharedLogObstacle) {
                return try await Space(copying: store, name, rules, table, sources, bell)
            } catch {
                await store.close()
                guard case .otherData = error else { throw error.failure }
                try setAside(directory)
            }
        }
    }

    /// The same without a file, for tests.
    package static func inMemory(
        named name: SpaceName, rules: R, over table: any DecisionTable, sources: SyncSources,
        log: LogSources
    ) async throws(AuthorityFailure) -> Space {
        do throws(SharedLogObstacle) {
            return try await Space(
                copying: storeInMemory(log), name, rules, table, sources, Signal())
        } catch { throw error.failure }
    }

    private init(
        copying store: Store<Decided<R.State>>, _ name: SpaceName, _ rules: R,
        _ table: any DecisionTable, _ sources: SyncSources, _ bell: Signal
    ) async throws(SharedLogObstacle) {
        var shared = try SharedLog<R>(of: store, named: name, in: table)
        try await shared.catchUp()
        do throws(LogError) {
            guard let founding = store.view.founding else { preconditionFailure("not founded") }
            try self.init(store, founding, name, rules, sources, bell, over: shared)
        } catch { throw SharedLogObstacle(.log(error)) }
    }

    /// Keeps the log of a lineage that has ended beside the new one.
    private static func setAside(_ directory: URL) throws(AuthorityFailure) {
        let files = FileManager.default
        let (folder, name) = (directory.deletingLastPathComponent(), directory.lastPathComponent)
        var number = 1
        func place() -> URL { folder.appending(path: "\(name)~\(number)") }
        while files.fileExists(atPath: place().path(percentEncoded: false)) { number += 1 }
        do { try files.moveItem(at: directory, to: place()) } catch {
            throw .unavailable(after: nil, reason: "\(error)")
        }
    }

    // MARK: Deciding

    /// Appends a group to the table, and then to the log.
    ///
    /// - Throws: `.unavailable` if the table lost decisions, or has others.
    func append(_ group: GroupInProgress<R>) async throws(AuthorityFailure) -> CommitEnd {
        guard var copy = shared else { preconditionFailure("no table") }
        let row = TableGroup(
            position: group.position,
            group.decisions.map { (intent: $0, event: DecisionEvent.decided($1)) })
        do throws(SharedLogObstacle) {
            let isThere = try await copy.append(row, as: group.events)
            shared = copy
            health.withLock { ($0.trouble, $0.appendTrouble) = (nil, nil) }
            return isThere ? .kept : .lost
        } catch {
            guard case .failed(let failure) = error else { throw error.failure }
            health.withLock { $0.appendTrouble = "\(failure)" }
            return .unknown(failure)
        }
    }

    // MARK: Following

    /// Copies what other servers have decided, and rings if there was something.
    ///
    /// Takes its turn among the requests.
    func follow() async throws(AuthorityFailure) {
        guard isShared else { return }
        _ = try await decided(Ticket([], by: Self.nobody, waiting: nil))
    }

    private static var nobody: Account { Account("-")! }

    /// The same after a hint. Several hints need one turn.
    func followHint() async {
        if isFollowWaiting { return }
        isFollowWaiting = true
        try? await follow()
    }

    /// Follows if a device knows more than this server: another one told it.
    nonisolated func follow(_ device: SyncPoint) async throws(AuthorityFailure) {
        guard isShared else { return }
        let (lineage, head) = tail.withLock { ($0.lineage, $0.head) }
        let isBehind = device.through > head  // mutant: ahead-device
        guard isBehind || lineage.isOther(than: device.lineage) else { return }
        try await follow()
    }

    /// Brings the log up to date. What was kept of the state before is of no use then.
    ///
    /// - Throws: `.unavailable`.
    func catchUp() async throws(AuthorityFailure) {
        guard var copy = shared else { return }
        isFollowWaiting = false
        let before = copy.head?.position
        let obstacle: SharedLogObstacle?
        do throws(SharedLogObstacle) {
            try await copy.catchUp()
            obstacle = nil
        } catch { obstacle = error }
        shared = copy
        // Readers must not get groups of a new lineage under the name of the old one.
        let isOther = store.view.founding?.lineage != lineage
        let hasGrown = copy.head?.position != before
        let wasRefused = health.withLock { health in
            defer {
                (health.refusal, health.trouble) = (nil, nil)
                switch obstacle {
                case .refused(let reason)?: health.refusal = reason
                case .failed(let failure)?: health.trouble = "\(failure)"
                case .otherData?: health.isOutdated = true
                case nil: break
                }
                if isOther { health.isOutdated = true }
                if hasGrown { health.appendTrouble = nil }
            }
            return health.refusal != nil
        }
        if hasGrown, !isOther {
            (working, replicas) = (nil, [:])
            if !store.partlyRead.notes.isEmpty {
                let isReadInPart = (try? Self.readsWhole(store, codec)) != true
                health.withLock { $0.isReadInPart = isReadInPart }
            }
            let end = store.core.published
            tail.withLock { $0.skip(to: end.through, checksum: end.chain) }
        }
        if hasGrown || wasRefused { decisions.ring() }
        if let obstacle { throw obstacle.failure }
        try requireOpen()
    }
}
