import Foldback
import FoldbackSync
import Foundation

/// Continuing on a new log, as an app does (N6).
extension SimulatedReplica {
    /// Whether the log is superseded and its successor is not in place.
    var isContinuing: Bool { content.withLock { $0.process?.isContinuing ?? false } }

    /// Begins to continue on a new log, as an app does when its log is superseded.
    ///
    /// - Parameter link: the link of the process whose log is superseded.
    func startContinuing(_ link: SimulatedLink<P>) {
        let begins = content.withLock { content in
            guard let process = content.process, process.link === link, !process.isContinuing
            else { return false }
            content.process?.isContinuing = true
            return true
        }
        guard begins else { return }
        startTask { [self] in
            do throws(SyncError) { try await continueOnNewLog(link) } catch {
                // A process that has ended finds its stores closed.
                guard runs(link) else { return }
                fleet.notes.broke("error", "\(name) cannot continue on a new log: \(error)")
            }
        }
    }

    private func continueOnNewLog(_ link: SimulatedLink<P>) async throws(SyncError) {
        guard let process = content.withLock({ $0.process }), process.link === link else { return }
        // As in the task group of an app, the error of one ends all others.
        for task in process.runs + [process.following].compactMap({ $0 }) {
            task.cancel()
            await task.value
        }
        let place = SimulatedPlace(replica: self, link: link)
        while runs(link) {
            do throws(SyncError) {
                let result = try await process.store.continueOnNewLog(
                    from: link, policy: policy, bringing: fleet.brings,
                    sources: fleet.time.sources, in: place)
                switch result {
                case .continued, .stopped: return
                case .notSuperseded: return goOn(link)
                case .failed: break
                }
            } catch .superseded {}  // by yet another authority
            // The user signs in, or the authority works again.
            await fleet.time.sources.sleep(.seconds(1))
        }
    }

    /// Sends and fetches again: only a late message was of another authority.
    private func goOn(_ link: SimulatedLink<P>) {
        guard runs(link) else { return }
        content.withLock { $0.process?.isContinuing = false }
        startSyncing()
    }

    /// Whether the process of this link runs.
    func runs(_ link: SimulatedLink<P>) -> Bool {
        content.withLock { $0.process?.link === link }
    }
}

/// The logs of a replica.
private struct SimulatedPlace<P: Projection>: SuccessorPlace {
    let replica: SimulatedReplica<P>
    let link: SimulatedLink<P>

    private var fleet: Fleet<P>.Shared { replica.fleet }

    var keptLog: URL? { nil }

    func openSuccessor() throws(LogError) -> Store<P> {
        try requireRunning()
        replica.content.withLock { $0.keepSuccessor() }
        let successor = try replica.open(
            \.successor, as: fleet.book.freshReplica(after: replica.name))
        replica.content.withLock { $0.process?.successor = successor }
        return successor
    }

    func wipeSuccessor() throws(LogError) {
        try requireRunning()
        replica.content.withLock { content in
            content.process?.successor = nil
            content.successor = .nothing
        }
    }

    func replace(
        _ old: StoreStatus, by successor: Store<P>, carried: Set<IntentID>
    ) async throws(LogError) -> Store<P> {
        try requireRunning()
        guard let superseded = replica.store else { preconditionFailure("no process runs") }
        let ids = fleet.book.ids(of: replica.name)
        try check(superseded, against: successor)
        await successor.close()
        try requireRunning()
        fleet.book.noteLeft(ids)
        link.end()
        replica.content.withLock { $0.replaceLog() }
        fleet.notes.fired(.succession)
        return try replica.start()
    }

    func uncanceled<R: Sendable>(_ body: @escaping @Sendable () async -> R) async -> R {
        await Task(executorPreference: fleet.time) { await body() }.value
    }

    /// - Throws: `.closed` if the process has ended.
    private func requireRunning() throws(LogError) {
        guard replica.runs(link) else { throw .closed(path: replica.name) }
    }

    /// Checks that no intent of the superseded log is lost, and notes the ids under which they
    /// continue.
    private func check(
        _ old: Store<P>, against successor: Store<P>
    ) throws(LogError) {
        let name = replica.name
        var places: Set<String> = []
        let ids = Dictionary(
            uniqueKeysWithValues: fleet.book.ids(of: name).map { ("\($0)", $0) })
        var number: IntentNumber = 1
        while number < successor.status.nextIntent {
            let intent = try successor.intent(number)
            number = IntentNumber(number.value + 1)
            guard intent.state == .pending || intent.state == .rejected else { continue }
            // The key has all ids that the intent had. The last one is that in the old log.
            guard let key = intent.once?.split(separator: "\n").last,
                let before = ids[String(key)]
            else {
                fleet.notes.broke("made up", "\(name) continues an intent that it does not have.")
                continue
            }
            if intent.state == .rejected {
                fleet.book.noteRejectedBefore(intent.id)
            } else if !places.insert("\(before)").inserted {
                fleet.notes.broke("doubled", "\(name) continues intent \(before) twice.")
            }
            let isOwn = old.core.storage.header.replicas.has(before.replica)
            fleet.book.note(
                intent.id, continuing: before, delivered: isOwn ? nil : intent.event)
        }
        var next: LogSequence = 1
        while next <= successor.status.sequence {
            for entry in try successor.entries(from: next, countMax: .max) {
                next = LogSequence(entry.sequence.value + 1)
                guard case .confirmed(let events, _) = entry.content else { continue }
                let origins = events.compactMap { $0.origin.map { "\($0)" } }
                places.formUnion(origins)
            }
        }
        // On disk, another log may be in its place already.
        let work = try? SupersededWork(of: old)
        for intent in old.overlay {
            // An authority that does not compare devices may have it under an earlier id.
            let earlier = intent.once?.split(separator: "\n").map { String($0) } ?? []
            guard places.isDisjoint(with: earlier + ["\(intent.id)"]) else { continue }
            // Nothing is left for it to undo (F21).
            if intent.undoes != nil, work == nil { continue }
            if let undone = work?.undone(by: intent.id), !places.contains("\(undone)") { continue }
            fleet.notes.broke("lost", "\(name) lost intent \(intent.id) with its superseded log.")
        }
    }
}

extension SimulatedReplica.Content {
    /// Keeps what the closed successor has committed.
    fileprivate mutating func keepSuccessor() {
        guard let rows = process?.successor?.memoryRows else { return }
        successor = .rows(rows)
    }

    /// Puts the closed successor in the place of the superseded log, and ends the process.
    fileprivate mutating func replaceLog() {
        keepSuccessor()
        data = successor
        successor = .nothing
        oldTasks += process?.tasks ?? []
        process = nil
    }
}
