import Foldback
import FoldbackSync
import Foundation
import Synchronization

/// One replica: a store with an outbox and a downlink, like in an app. Its process can crash at any
/// moment and restart on its committed data.
final class SimulatedReplica<P: Projection>: Sendable {
    /// One process.
    struct Process {
        let store: Store<P>
        var outbox: Outbox<P>
        let downlink: Downlink<P>
        let link: SimulatedLink<P>
        /// The tasks that run an outbox of the store.
        var runs: [Task<Void, Never>] = []
        /// The task that follows the authority.
        var following: Task<Void, Never>?
        var tasks: [Task<Void, Never>] = []
        /// The new log that continues this log with another authority, while it is being filled.
        var successor: Store<P>?
        var isContinuing = false
    }

    /// The committed data of the replica.
    enum Data {
        case nothing
        case rows(MemoryRows)
        /// A log in a folder, and how often it was copied.
        case log(TemporaryFolder, copies: Int)
    }

    struct Content {
        var process: Process?
        var data = Data.nothing
        /// The committed data of an unfinished new log.
        var successor = Data.nothing
        /// Tasks of processes that have ended.
        var oldTasks: [Task<Void, Never>] = []
    }

    let name: String
    let wire: SimulatedWire<P>
    /// Whether a downlink follows the authority.
    let follows: Bool
    let fleet: Fleet<P>.Shared
    let server: SimulatedServer<P>
    let policy: SyncPolicy
    private let isOnDisk: Bool
    let content = Mutex(Content())

    init(
        _ name: String, _ member: FleetScript<P.Event>.Member, _ fleet: Fleet<P>.Shared,
        _ server: SimulatedServer<P>
    ) {
        self.name = name
        self.fleet = fleet
        self.server = server
        wire = SimulatedWire(
            name, to: server, latencyMax: member.latencyMax, fleet.time, fleet.notes)
        policy = SyncPolicy(
            intentsPerRequestMax: member.intentsPerRequestMax, requestsMax: member.requestsMax,
            backoffMin: .seconds(1), backoffMax: .seconds(16), delayMax: .seconds(60),
            waiting: .seconds(20), bytesPerRequestMax: member.bytesPerRequestMax)
        isOnDisk = member.isOnDisk
        follows = member.follows
    }

    /// Nil while no process runs.
    var store: Store<P>? { content.withLock { $0.process?.store } }

    // MARK: Processes

    /// Starts a process on the committed data; does nothing if one runs.
    ///
    /// - Returns: the store of the process.
    /// - Throws: an error of opening the log.
    @discardableResult
    func start() throws(LogError) -> Store<P> {
        if let store { return store }
        let store = try open()
        let late = SimulatedLink<P>.LateDelivery(
            verdicts: { [weak self] in await self?.deliver($0) },
            changes: { [weak self] in await self?.deliver($0) })
        let link = SimulatedLink(
            name, of: store, wire, server, fleet.book, fleet.notes,
            bytesPerRequestMax: policy.bytesPerRequestMax, late: late)
        let outbox = outbox(of: store, link)
        let downlink = Downlink(store, from: link, policy: policy, sources: fleet.time.sources)
        content.withLock {
            $0.process = Process(store: store, outbox: outbox, downlink: downlink, link: link)
        }
        startSyncing()
        return store
    }

    private func outbox(of store: Store<P>, _ link: SimulatedLink<P>) -> Outbox<P> {
        Outbox(
            store, to: link, policy: policy, sources: fleet.time.sources,
            lane: fleet.hasLanes ? Self.lane : nil)
    }

    /// One of three lanes, by the bytes of the event; nil for a quarter of the events.
    @Sendable static func lane(of event: P.Event) -> String? {
        guard let bytes = try? P.codec.encode(event) else { return nil }
        let lane = Checksum.of(bytes.span.bytes, seed: 0) % 4
        return lane == 0 ? nil : "\(lane)"
    }

    /// Starts the outbox and, if the replica follows, the downlink of the process.
    func startSyncing() {
        guard let process = content.withLock({ $0.process }) else { return }
        startRun(of: process.outbox, process.link)
        guard follows else { return }
        let following = startTask {
            do throws(SyncError) { try await process.downlink.follow() } catch .superseded {
                self.startContinuing(process.link)
            } catch {
                self.fleet.notes.broke("ended", "The downlink of \(self.name) ends: \(error)")
            }
        }
        content.withLock { $0.process?.following = following }
    }

    private func startRun(of outbox: Outbox<P>, _ link: SimulatedLink<P>) {
        let run = startTask {
            do throws(SyncError) { try await outbox.run() } catch .superseded {
                self.startContinuing(link)
            } catch {
                self.fleet.notes.broke("ended", "The outbox of \(self.name) ends: \(error)")
            }
        }
        content.withLock { $0.process?.runs.append(run) }
    }

    /// Runs another outbox of the store.
    ///
    /// - Parameter cancels: whether all runs before are canceled right before. Otherwise, the
    ///   second run must be refused (S4).
    func runAgain(cancels: Bool) {
        guard let process = content.withLock({ $0.process }), !process.isContinuing else { return }
        // If the first run has not begun yet, it may be the second.
        guard cancels || process.outbox.status.pause != .stopped else { return }
        fleet.notes.fired(.secondRun)
        let outbox = outbox(of: process.store, process.link)
        if cancels {
            content.withLock { $0.process?.outbox = outbox }
            for run in process.runs { run.cancel() }
            startRun(of: outbox, process.link)
        } else {
            let run = startTask {
                do throws(SyncError) { try await outbox.run() } catch {
                    if case .superseded = error { return }
                    if case .alreadyRunning = error { return }
                    self.fleet.notes.broke("ended", "The outbox of \(self.name) ends: \(error)")
                }
            }
            // The first run may end at this moment. Then this run goes on in its place.
            content.withLock { $0.process?.runs.append(run) }
        }
    }

    private func open() throws(LogError) -> Store<P> {
        try open(\.data, as: .named(name))
    }

    func open(
        _ place: WritableKeyPath<Content, Data>, as replica: ReplicaID
    ) throws(LogError) -> Store<P> {
        switch content.withLock({ $0[keyPath: place] }) {
        case .nothing where isOnDisk:
            guard let folder = try? TemporaryFolder() else { throw .missing(path: "/tmp") }
            content.withLock { $0[keyPath: place] = .log(folder, copies: 0) }
            return try open(place, as: replica)
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
                durability: .relaxed, replica: .exactly(replica), sources: sources)
        }
    }

    private var sources: LogSources {
        let time = fleet.time
        return LogSources(
            now: { time.now },
            freshReplica: { [book = fleet.book, name] in book.freshReplica(after: name) })
    }

    @discardableResult
    func startTask(
        _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        let task = Task(executorPreference: fleet.time, operation: work)
        content.withLock { content in
            if content.process == nil {
                content.oldTasks.append(task)
                task.cancel()
            } else {
                content.process?.tasks.append(task)
            }
        }
        return task
    }

    /// Ends the process and keeps the committed data. Returns false if none runs.
    /// - Throws: an error of copying files.
    func crash(copiesLog: Bool) async throws -> Bool {
        guard let process = content.withLock({ $0.process }) else { return false }
        process.link.end()
        if let rows = process.successor?.memoryRows {
            content.withLock { $0.successor = .rows(rows) }
        }
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
        if isOnDisk {
            await process.store.close()
            await process.successor?.close()
        }
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
}

extension TemporaryFolder {
    fileprivate func log(_ copies: Int) -> URL {
        url.appending(path: "log \(copies)", directoryHint: .isDirectory)
    }
}
