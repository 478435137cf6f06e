import Foldback
import FoldbackSync
import Foundation
import Synchronization

/// One replica: a store with an outbox and a downlink, like in an app. Its process can crash at any moment and
/// restart on its committed data.
final class SimulatedReplica<P: Projection>: Sendable {
    /// One process.
    private struct Process {
        let store: Store<P>
        let outbox: Outbox<P>
        let link: SimulatedLink<P>
        var tasks: [Task<Void, Never>] = []
    }

    /// The committed data of the replica.
    private enum Data {
        case nothing
        case rows(MemoryRows)
        /// A log in a folder, and how often it was copied.
        case log(TemporaryFolder, copies: Int)
    }

    private struct Content {
        var process: Process?
        var data = Data.nothing
        /// Tasks of processes that have ended.
        var oldTasks: [Task<Void, Never>] = []
    }

    let name: String
    let wire: SimulatedWire<P>
    private let fleet: Fleet<P>.Shared
    private let server: SimulatedServer<P>
    private let policy: OutboxPolicy
    private let isOnDisk: Bool
    private let content = Mutex(Content())

    init(
        _ name: String, _ member: FleetScript<P.Event>.Member, _ fleet: Fleet<P>.Shared,
        _ server: SimulatedServer<P>
    ) {
        self.name = name
        self.fleet = fleet
        self.server = server
        wire = SimulatedWire(
            name, to: server, latencyMax: member.latencyMax, fleet.time, fleet.notes)
        policy = OutboxPolicy(
            intentsPerRequestMax: member.intentsPerRequestMax, requestsMax: member.requestsMax,
            backoffMin: .seconds(1), backoffMax: .seconds(16), delayMax: .seconds(60))
        isOnDisk = member.isOnDisk
    }

    /// Nil while no process runs.
    var store: Store<P>? { content.withLock { $0.process?.store } }
    var outbox: Outbox<P>? { content.withLock { $0.process?.outbox } }

    // MARK: Processes

    /// Starts a process on the committed data; does nothing if one runs.
    /// - Throws: an error of opening the log.
    func start() throws {
        guard store == nil else { return }
        let store = try open()
        let late = SimulatedLink<P>.LateDelivery(
            verdicts: { [weak self] in await self?.deliver($0) },
            changes: { [weak self] in await self?.deliver($0) })
        let link = SimulatedLink(
            name, of: store, wire, server, fleet.book, fleet.notes, late: late)
        let outbox = Outbox(store, to: link, policy: policy, sources: fleet.time.sources)
        content.withLock { $0.process = Process(store: store, outbox: outbox, link: link) }
        startTask {
            do throws(FoldbackError) { try await outbox.run() } catch {
                self.fleet.notes.broke("ended", "The outbox of \(self.name) ends: \(error)")
            }
        }
    }

    private func open() throws -> Store<P> {
        let replica = ReplicaID.named(name)
        switch content.withLock({ $0.data }) {
        case .nothing where isOnDisk:
            let folder = try TemporaryFolder()
            content.withLock { $0.data = .log(folder, copies: 0) }
            return try open()
        case .nothing:
            return Store.inMemory(
                P.self, also: P.alsoForLaws, confirmedBy: fleet.kind, replica: replica,
                sources: sources)
        case .rows(let rows):
            return try Store.inMemory(
                P.self, also: P.alsoForLaws, reopening: rows, sources: sources)
        case .log(let folder, let copies):
            return try Store.openWithoutThread(
                at: folder.log(copies), P.self, also: P.alsoForLaws, confirmedBy: fleet.kind,
                durability: .relaxed, replica: replica, sources: sources)
        }
    }

    private var sources: LogSources {
        let time = fleet.time
        return LogSources(
            now: { time.now },
            freshReplica: { [book = fleet.book, name] in book.freshReplica(after: name) })
    }

    private func startTask(_ work: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: fleet.time, operation: work)
        content.withLock { content in
            if content.process == nil {
                content.oldTasks.append(task)
                task.cancel()
            } else {
                content.process?.tasks.append(task)
            }
        }
    }

    /// Ends the process and keeps the committed data. Returns false if none runs.
    /// - Throws: an error of copying files.
    func crash(copiesLog: Bool) async throws -> Bool {
        guard let process = content.withLock({ $0.process }) else { return false }
        process.link.end()
        if let rows = process.store.memoryRows {
            content.withLock { $0.data = .rows(rows) }
        } else if copiesLog {
            try copyLog()
            fleet.notes.fired(.copy)
        }
        content.withLock { content in
            content.process = nil
            content.oldTasks += process.tasks
        }
        for task in process.tasks { task.cancel() }
        // Frees the file for its next writer; the old store gets no calls any more.
        if isOnDisk { await process.store.close() }
        return true
    }

    /// Copies the files as they are at this moment.
    private func copyLog() throws {
        guard case .log(let folder, let copies) = content.withLock({ $0.data }) else { return }
        try FileManager.default.copyItem(at: folder.log(copies), to: folder.log(copies + 1))
        content.withLock { $0.data = .log(folder, copies: copies + 1) }
    }

    /// Ends the outbox and all fetches; the store stays open.
    func stop() async {
        let tasks = content.withLock { $0.oldTasks + ($0.process?.tasks ?? []) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Restarts the replica and returns its store; nil if it was not running.
    /// - Throws: an error of opening the log.
    func reopened() async throws -> Store<P>? {
        guard try await crash(copiesLog: false) else { return nil }
        return try open()
    }

    // MARK: Messages of the authority

    /// The user signs in if the app asks for it.
    func signInWhereAsked() {
        guard let outbox, case .signedOut = outbox.status.pause else { return }
        outbox.signedIn()
    }

    /// Starts a fetch, also if another fetch is running.
    func startFetching() {
        startTask { await self.fetch() }
    }

    func fetch() async {
        guard
            let (store, link) = content.withLock({ content in
                content.process.map { ($0.store, $0.link) }
            })
        else { return }
        let downlink = Downlink(store, from: link, policy: policy, sources: fleet.time.sources)
        do throws(FoldbackError) {
            if case .failed(.invalidAnswer(let reason)) = try await downlink.fetch() {
                fleet.notes.broke("unusable", "\(name) cannot use the fetched events: \(reason)")
            }
        } catch {
            fleet.notes.broke("unusable", "\(name) cannot record the fetched events: \(error)")
        }
    }

    private func deliver(_ verdicts: SimulatedLink<P>.Verdicts) async {
        for (id, verdict) in verdicts.sorted(by: { $0.key.number < $1.key.number }) {
            await deliver { store throws(FoldbackError) in
                switch verdict {
                case .accepted(let position, let words):
                    try await store.acknowledge(
                        id.number, position: store.status.kind == .downlink ? position : nil,
                        replacement: words)
                case .rejected(let rejection):
                    try await store.reject(
                        id.number, code: rejection.code, message: rejection.message)
                case .later: break
                }
            }
        }
    }

    private func deliver(_ changes: Changes<P.Event>) async {
        await deliver { store throws(FoldbackError) in
            try await store.confirm(changes.events, through: changes.through)
        }
    }

    private func deliver(
        _ record: @Sendable (Store<P>) async throws(FoldbackError) -> Void
    ) async {
        guard let store else { return }
        do throws(FoldbackError) { try await record(store) } catch {
            if case .closed = error { return }
            fleet.notes.broke("unusable", "\(name) cannot record the authority's answer: \(error)")
        }
    }
}

extension TemporaryFolder {
    fileprivate func log(_ copies: Int) -> URL {
        url.appending(path: "log \(copies)", directoryHint: .isDirectory)
    }
}
