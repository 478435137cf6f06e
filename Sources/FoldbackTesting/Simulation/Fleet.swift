import Foldback
import FoldbackSync
import Synchronization

/// Replicas and their authority, which run one script in virtual time.
///
/// In downlink logs all replicas share one authority. In acknowledgement logs each replica has its
/// own authority, because nothing delivers the events of other replicas (F2).
struct Fleet<P: Projection>: Sendable {
    /// The values that all parts of a fleet share.
    struct Shared: Sendable {
        let kind: LogKind
        let time: VirtualTime
        let notes: FleetNotes
        let book: FleetBook<P>
        /// What replicas bring to a new log.
        let brings: WorkToBring
        let hasLanes: Bool
    }

    /// The quiet time before everything heals. The last intents can be sent meanwhile.
    private static var graceBeforeHealing: Duration { .seconds(20) }

    let script: FleetScript<P.Event>
    let shared: Shared
    let replicas: [SimulatedReplica<P>]
    let servers: [SimulatedServer<P>]
    /// Later actions. They are cancelled when everything heals.
    private let timers = Timers()

    /// - Parameter authority: wraps the honest authority, to break it on purpose.
    init(
        _ script: FleetScript<P.Event>, isTracing: Bool,
        authority: @escaping @Sendable (InProcessAuthority<P>) -> any Authority<P.Event>
    ) {
        self.script = script
        let time = VirtualTime(seed: script.seed, order: script.order, jobsMax: 300_000)
        let shared = Shared(
            kind: script.kind, time: time, notes: FleetNotes(time, isTracing: isTracing),
            book: FleetBook(), brings: script.seed % 2 == 0 ? .pending : .pendingAndConfirmed,
            hasLanes: script.hasLanes)
        self.shared = shared
        let serverCount = script.kind == .downlink ? 1 : script.members.count
        let servers = (0..<serverCount).map { _ in
            SimulatedServer(
                shared.authority(eventsPerPageMax: script.eventsPerPageMax),
                comparesDevices: script.comparesDevices, waits: script.authorityWaits, time,
                as: authority)
        }
        self.servers = servers
        replicas = script.members.enumerated().map { index, member in
            SimulatedReplica(
                FleetScript<P.Event>.name(of: index), member, shared,
                servers[min(index, serverCount - 1)])
        }
        if script.order != 0 { shared.notes.fired(.disorder) }
    }

    /// The authority of a replica.
    func server(of member: Int) -> SimulatedServer<P> { servers[min(member, servers.count - 1)] }

    // MARK: Running

    /// Runs the script, heals everything, and continues until nothing is pending.
    ///
    /// It notes the first violation. A run that does not end is one.
    func run() async {
        let (time, notes) = (shared.time, shared.notes)
        do {
            try await time.run {
                for replica in replicas { try replica.start() }
                for step in script.steps where !notes.isBroken {
                    if step.delay > .zero { await time.sleep(step.delay) }
                    try await perform(step)
                }
                await time.sleep(Self.graceBeforeHealing)
                try await heal()
                await settle()
                for replica in replicas { await replica.stop() }
                await wait(atMost: .seconds(600)) { replicas.allSatisfy(\.wire.isIdle) }
            }
        } catch VirtualTime.Halt.stuck {
            notes.broke("stuck", "A task waits for an event that can never happen.")
        } catch VirtualTime.Halt.endless(let jobs) {
            notes.broke(
                "endless", "The run does not end: \(jobs) jobs ran.")
        } catch {
            notes.broke("error", "A log cannot continue: \(error)")
        }
    }

    private func heal() async throws {
        shared.notes.trace("all", "everything works from now on")
        await timers.cancel()
        for server in servers { server.heal() }
        for replica in replicas {
            replica.wire.heal()
            try replica.start()
            replica.tell(.signedIn)
            replica.tell(.wentOnline)
        }
    }

    /// Waits until nothing is pending and no request is on its way, and fetches.
    private func settle() async {
        await waitUntilSettled()
        // A replica that follows must get all events by itself.
        for replica in replicas where !replica.follows { await replica.fetch() }
        await waitUntilSettled()
        // A replica that continued on a new log has new events of its own.
        for replica in replicas where !replica.follows { await replica.fetch() }
        await waitUntilSettled()
    }

    /// Waits until nothing is pending or on its way, and every replica runs.
    private func waitUntilSettled() async {
        // No backoff is longer than a minute, and each answered request settles an intent.
        // The authority fails about thirty times on an intent before its quarantine.
        let poison = shared.book.ids.filter { shared.book.isPoison($0) }.count
        await wait(atMost: .seconds(600 + 10 * script.steps.count + 600 * poison)) {
            for replica in replicas {
                // An answer that was on its way when everything healed may still ask for a sign-in.
                replica.signInWhereAsked()
                await replica.abandonPoison()
            }
            return replicas.allSatisfy { replica in
                replica.wire.isQuiet && !replica.isContinuing && replica.isCaughtUp
                    && replica.store?.snapshot.pending.isEmpty ?? true
            }
        }
    }

    private func wait(
        atMost limit: Duration, until condition: () async -> Bool
    ) async {
        let time = shared.time
        let end = time.now.advanced(by: limit)
        var pause = Duration.milliseconds(100)
        while await !condition(), time.now < end {
            await time.sleep(pause)
            pause = min(pause * 2, .seconds(10))
        }
    }

    // MARK: Steps

    private func perform(_ step: FleetScript<P.Event>.Step) async throws {
        let replica = replicas[step.member]
        let notes = shared.notes
        switch step.act {
        case .record, .change, .edit: try await performAction(step, replica)
        case .fetch:
            notes.trace(replica.name, "fetches")
            notes.count()
            replica.startFetching()
        case .signIn: replica.tell(.signedIn)
        case .link(let fault):
            notes.trace(replica.name, "\(step.act)")
            replica.wire.arm(fault)
        case .partition(let duration, let isKnown):
            notes.trace(replica.name, "\(step.act)")
            replica.wire.goDown(for: duration)
            guard isKnown else { break }
            notes.fired(.offline)
            replica.tell(.wentOffline)
            timers.start(duration, shared.time) { replica.tell(.wentOnline) }
        case .crash(let duration, let turns, let copiesLog):
            for _ in 0..<turns { await Task.yield() }
            guard try await replica.crash(copiesLog: copiesLog) else { break }
            notes.fired(.crash)
            notes.trace(replica.name, "\(step.act)")
            guard duration > .zero else {
                try replica.start()
                return
            }
            timers.start(duration, shared.time) {
                do { try replica.start() } catch {
                    notes.broke("error", "A log cannot be opened: \(error)")
                }
            }
        case .authorityCrash(let duration):
            notes.trace("the authority", "\(step.act)")
            server(of: step.member).crash(for: duration)
        case .authorityLoss(let count):
            // A log that acknowledgements confirm hears of it only with its next intent.
            guard shared.kind == .downlink else { break }
            notes.fired(.authorityLoss)
            notes.trace("the authority", "\(step.act)")
            let server = server(of: step.member)
            shared.book.noteLost(server.books.events.dropFirst(count).compactMap(\.origin))
            server.lose(keeping: count, as: shared.book.freshLineage())
        case .outage(let duration):
            notes.trace("the authority", "\(step.act)")
            server(of: step.member).fail(for: duration)
        case .secondRun(let cancels):
            notes.trace(replica.name, "\(step.act)")
            replica.runAgain(cancels: cancels)
        }
    }

    private func performAction(
        _ step: FleetScript<P.Event>.Step, _ replica: SimulatedReplica<P>
    ) async throws {
        guard let store = replica.store else {
            shared.notes.trace(replica.name, "is not running")
            return
        }
        shared.notes.count()
        let user = SimulatedUser(replica.name, store, shared)
        do { try await performAction(step, user) } catch CommandError.log(.closed)
            where replica.isContinuing || replica.store !== store
        {
            shared.notes.trace(replica.name, "finds the superseded log closed")
        }
    }

    private func performAction(
        _ step: FleetScript<P.Event>.Step, _ user: SimulatedUser<P>
    ) async throws {
        switch step.act {
        case .record(let event, let force, let confirmOnly, let once, let ruling):
            try await user.record(event, force, confirmOnly, once, ruling)
        case .change(let place, let command): try await user.perform(command, at: place)
        case .edit(let place, let event): try await user.edit(place, to: event)
        case .fetch, .signIn, .link, .partition, .crash, .authorityCrash, .authorityLoss, .outage,
            .secondRun:
            preconditionFailure("\(step.act) is not an action of a user")
        }
    }
}

extension Fleet.Shared {
    /// An authority with the verdicts of the script.
    fileprivate func authority(eventsPerPageMax: Int) -> InProcessAuthority<P> {
        InProcessAuthority(
            P.self, lineage: book.freshLineage(), eventsPerPageMax: eventsPerPageMax,
            sources: time.sources
        ) { [book, notes] intent, _ in
            switch book.ruling(on: intent.id) {
            case .accept, .poison: return .accept
            case .reject:
                notes.fired(.rejection)
                return .reject(Rejection(message: "as the script says"))
            case .reword(let event):
                notes.fired(.rewording)
                return .reword(event)
            }
        }
    }
}

/// Actions at a later time, which can be cancelled.
private final class Timers: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])

    func start(
        _ duration: Duration, _ time: VirtualTime, _ body: @escaping @Sendable () -> Void
    ) {
        let task = Task(executorPreference: time) {
            await time.sleep(duration)
            if !Task.isCancelled { body() }
        }
        tasks.withLock { $0.append(task) }
    }

    func cancel() async {
        let tasks = tasks.withLock { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
