import Foldback
import FoldbackSync
import Synchronization

/// Replicas and their authority, carrying out one script in virtual time.
///
/// In a downlink log all replicas share one authority. Where acknowledgements confirm each replica has
/// one of its own: nothing brings it what others did (F2).
struct Fleet<P: Projection>: Sendable {
    /// What all of a fleet know.
    struct Shared: Sendable {
        let kind: LogKind
        let time: VirtualTime
        let notes: FleetNotes
        let book: FleetBook<P>
    }

    /// How long nothing new happens before everything heals; what users did last has time to leave.
    private static var graceBeforeHealing: Duration { .seconds(20) }

    let script: FleetScript<P.Event>
    let shared: Shared
    let replicas: [SimulatedReplica<P>]
    let servers: [SimulatedServer<P>]
    /// What waits for its time; it is cancelled when everything heals.
    private let timers = Timers()

    /// - Parameter authority: what stands before an honest authority, to break it on purpose.
    init(
        _ script: FleetScript<P.Event>, isTracing: Bool,
        authority: (InProcessAuthority<P>) -> any Authority<P.Event>
    ) {
        self.script = script
        let time = VirtualTime(seed: script.seed, order: script.order, jobsMax: 2_000_000)
        let shared = Shared(
            kind: script.kind, time: time, notes: FleetNotes(time, isTracing: isTracing),
            book: FleetBook())
        self.shared = shared
        let serverCount = script.kind == .downlink ? 1 : script.members.count
        let servers = (0..<serverCount).map { _ in
            let books = shared.authority(eventsPerPageMax: script.eventsPerPageMax)
            return SimulatedServer(books, as: authority(books), time)
        }
        self.servers = servers
        replicas = script.members.enumerated().map { index, member in
            SimulatedReplica(
                FleetScript<P.Event>.name(of: index), member, shared,
                servers[min(index, serverCount - 1)])
        }
        if script.order != 0 { shared.notes.fired(.disorder) }
    }

    /// The authority that decides on what a replica does.
    func server(of member: Int) -> SimulatedServer<P> { servers[min(member, servers.count - 1)] }

    // MARK: Running

    /// Carries out the script, heals everything, and lets it run until nothing is pending.
    ///
    /// What should not be is noted, also that it does not come to its end.
    func run() async {
        let (time, notes) = (shared.time, shared.notes)
        do {
            try await time.run {
                for replica in replicas { try replica.begin() }
                for step in script.steps where !notes.isBroken {
                    if step.delay > .zero { await time.sleep(step.delay) }
                    try await perform(step)
                }
                await time.sleep(Self.graceBeforeHealing)
                try await heal()
                await settle()
                for replica in replicas { await replica.stop() }
            }
        } catch VirtualTime.Halt.stuck {
            notes.broke("stuck", "Nothing can happen any more, and something is waited for.")
        } catch VirtualTime.Halt.endless(let jobs) {
            notes.broke(
                "endless", "It goes round in circles: \(jobs) steps of tasks without an end.")
        } catch {
            notes.broke("error", "A log cannot go on: \(error)")
        }
    }

    private func heal() async throws {
        shared.notes.trace("all", "everything works from here on")
        await timers.cancel()
        for server in servers { server.heal() }
        for replica in replicas {
            replica.wire.heal()
            try replica.begin()
            replica.outbox?.signedIn()
            replica.outbox?.wentOnline()
        }
    }

    /// Waits until nothing is pending and nothing on its way, and fetches.
    private func settle() async {
        // No wait is longer than a minute, and a request that goes through settles an intent.
        let most = Duration.seconds(600 + 10 * script.steps.count)
        await wait(atMost: most) {
            // An answer that was on its way when everything healed may still ask for it.
            for replica in replicas { replica.signInWhereAsked() }
            return replicas.allSatisfy {
                $0.wire.isQuiet && $0.store?.snapshot.pending.isEmpty ?? true
            }
        }
        for replica in replicas { await replica.fetch() }
        await wait(atMost: most) { replicas.allSatisfy(\.wire.isQuiet) }
    }

    private func wait(atMost most: Duration, until condition: () -> Bool) async {
        let time = shared.time
        let end = time.now.advanced(by: most)
        var pause = Duration.milliseconds(100)
        while !condition(), time.now < end {
            await time.sleep(pause)
            pause = min(pause * 2, .seconds(10))
        }
    }

    // MARK: Steps

    private func perform(_ step: FleetScript<P.Event>.Step) async throws {
        let replica = replicas[step.member]
        let notes = shared.notes
        switch step.act {
        case .record, .change: try await performUsers(step, replica)
        case .fetch:
            notes.trace(replica.name, "fetches")
            notes.count()
            replica.beginFetching()
        case .signIn: replica.outbox?.signedIn()
        case .link(let fault):
            notes.trace(replica.name, "\(step.act)")
            replica.wire.arm(fault)
        case .partition(let duration, let isKnown):
            notes.trace(replica.name, "\(step.act)")
            replica.wire.goDown(for: duration)
            guard isKnown else { break }
            notes.fired(.offline)
            replica.outbox?.wentOffline()
            timers.start(duration, shared.time) { replica.outbox?.wentOnline() }
        case .crash(let duration, let turns, let copiesLog):
            for _ in 0..<turns { await Task.yield() }
            guard try await replica.die(copiesLog: copiesLog) else { break }
            notes.fired(.crash)
            notes.trace(replica.name, "\(step.act)")
            guard duration > .zero else { return try replica.begin() }
            timers.start(duration, shared.time) {
                do { try replica.begin() } catch {
                    notes.broke("error", "A log cannot be opened: \(error)")
                }
            }
        case .authorityCrash(let duration):
            notes.trace("the authority", "\(step.act)")
            server(of: step.member).die(for: duration)
        }
    }

    private func performUsers(
        _ step: FleetScript<P.Event>.Step, _ replica: SimulatedReplica<P>
    ) async throws {
        guard let store = replica.store else {
            shared.notes.trace(replica.name, "does not run")
            return
        }
        shared.notes.count()
        let user = SimulatedUser(replica.name, store, shared)
        switch step.act {
        case .record(let event, let force, let confirmOnly, let once, let ruling):
            try await user.record(event, force, confirmOnly, once, ruling)
        case .change(let place, let command): try await user.perform(command, at: place)
        case .fetch, .signIn, .link, .partition, .crash, .authorityCrash:
            preconditionFailure("\(step.act) is nothing that users do")
        }
    }
}

extension Fleet.Shared {
    /// One that says of each intent what the script says.
    fileprivate func authority(eventsPerPageMax: Int) -> InProcessAuthority<P> {
        InProcessAuthority(P.self, eventsPerPageMax: eventsPerPageMax) { [book, notes] intent, _ in
            switch book.ruling(on: intent.id) {
            case .accept: return .accept
            case .reject:
                notes.fired(.rejection)
                return .reject(Rejection(message: "as it was to be"))
            case .reword(let event):
                notes.fired(.rewording)
                return .reword(event)
            }
        }
    }
}

/// What happens at a later time, unless it is cancelled before.
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
