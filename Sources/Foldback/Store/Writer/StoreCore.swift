import FoldbackLMDB
import Synchronization

/// A store without the types of its projections: its queue, writer, checkpoints and reads.
package final class StoreCore: Sendable {
    package let codec: any PayloadCodec
    /// Where folding began when the log was opened, and the checkpoints that could not be used.
    package let replayStart: ReplayStart
    package let checkpointer: Checkpointer
    /// Lets the checkpointer look at each published state.
    private let checkpointing: Listening
    /// Prepares a compacted form of the log (C10).
    package let compaction = BackgroundWork()
    /// The store's projections before the first entry.
    package let projections: ProjectionSet
    /// Which projections share their conflicts. It changes only when a log is opened.
    package let shared: SharedConflicts
    /// The way of commands to the writer.
    package let runner: CommandRunner
    /// Lets one downlink at a time follow the authority.
    package let followers = RunGate()
    /// Lets one call at a time bring the work of a superseded log, so that nothing is doubled (N6).
    package let bringers = RunGate()
    /// Lets one outbox at a time send (S4).
    package let senders = RunGate()
    /// Tells the outbox that runs that an intent is released from quarantine; nil if none runs.
    package let release = Mutex<(@Sendable (IntentNumber) -> Void)?>(nil)

    package var storage: any LogStorage { runner.storage }
    package var writer: LogWriter { runner.writer }
    /// What the store has published, and who waits for it.
    package var publication: Publication { runner.writer.publication }
    /// The state of the last commit. O(1), from any thread.
    package var published: PublishedState { publication.current }

    private init(
        _ runner: CommandRunner, codec: any PayloadCodec, start: ReplayStart,
        policy: CheckpointPolicy, projections: ProjectionSet, shared: SharedConflicts
    ) {
        self.projections = projections
        self.shared = shared
        self.runner = runner
        self.codec = codec
        replayStart = start
        let checkpointer = Checkpointer(
            runner, policy: policy, codec: codec, usable: start.checkpoint)
        self.checkpointer = checkpointer
        checkpointing = runner.writer.publication.changes.listen { checkpointer.beginIfDue() }
    }

    /// Lets a store that is released without ``close()`` carry out the queued commands, and then
    /// close.
    deinit { runner.shut() }

    // MARK: Opening

    /// Opens a log on a new thread, which then is the writer (L3). Folds the entries after the
    /// newest usable checkpoint.
    ///
    /// - Throws: the errors of `openStorage` and of folding the log. The storage is closed.
    package static func open(
        codec: any PayloadCodec, projections: ProjectionSet,
        clock: @escaping @Sendable () -> Timestamp, policy: CheckpointPolicy,
        unreadable: UnreadableLog = .refused, sharing: SharingRequest? = nil,
        progress: (@Sendable (CatchUpProgress) -> Void)? = nil,
        _ openStorage: @escaping @Sendable () throws(LogError) -> any LogStorage
    ) async throws(LogError) -> StoreCore {
        let opened = await withUnsafeContinuation {
            (opened: UnsafeContinuation<Result<StoreCore, LogError>, Never>) in
            Platform.startThread {
                let runner: CommandRunner
                do throws(LogError) {
                    // This thread must not retain the core: the core's release closes the queue,
                    // and only that ends this thread.
                    let core = try StoreCore(
                        on: try openStorage(), codec: codec, projections: projections,
                        clock: clock, policy: policy, hasThread: true, unreadable: unreadable,
                        sharing: sharing, progress: progress)
                    runner = core.runner
                    opened.resume(returning: .success(core))
                } catch {
                    opened.resume(returning: .failure(error))
                    return
                }
                runner.run()
            }
        }
        return try opened.get()
    }

    /// Folds the log, on the calling thread.
    ///
    /// - Parameter hasThread: whether a thread will call ``CommandRunner/run()``. If false, a
    ///   caller's thread carries out commands: in memory, and in simulations that must be
    ///   repeatable.
    /// - Throws: the errors of folding the log. The storage is closed.
    package convenience init(
        on storage: any LogStorage, codec: any PayloadCodec, projections: ProjectionSet,
        clock: @escaping @Sendable () -> Timestamp,
        policy: CheckpointPolicy, hasThread: Bool, unreadable: UnreadableLog = .refused,
        sharing: SharingRequest? = nil, progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) throws(LogError) {
        do throws(LogError) {
            let request = sharing ?? projections.sharing(nil)
            let registered = projections.registered
            if unreadable == .refused {
                try storage.requireOwnLog(of: Set(registered.map(\.0.name)), codec: codec)
            }
            let shared = try storage.sharedConflicts()
            let last = LogSequence(UInt64(try storage.recordCount()))
            let choice = try request.choice(insteadOf: shared, at: last, path: storage.path)
            let (attached, outdated) = try storage.attached(projections, codec: codec)
            var catchUp = try RowCatchUp(storage, progress)
            var (fold, start) = try LogFold.folded(
                storage, attached, codec: codec, sharing: shared
            ) { fold throws(LogError) in try catchUp.took(&fold) }
            try catchUp.write(&fold)
            try storage.dropRows(outdated)
            let renewed = try storage.register(registered, at: clock())
            fold.share(
                try storage.note(choice, insteadOf: shared, at: last, names: request.names))
            try fold.beginConflictNotes(in: storage, codec: codec)
            let attempts = try storage.attempts(of: fold.state.overlay)
            let writer = try LogWriter(
                fold, attempts: attempts, renewing: renewed, on: storage, codec: codec,
                clock: clock)
            self.init(
                CommandRunner(
                    storage, writer, hasThread: hasThread, clock: Platform.monotonicNanoseconds),
                codec: codec, start: start,
                policy: policy, projections: projections, shared: fold.shared)
        } catch {
            storage.close()
            throw error
        }
    }

    /// Returns an empty store in memory, without a thread.
    package static func inMemory(
        codec: any PayloadCodec, projections: ProjectionSet,
        clock: @escaping @Sendable () -> Timestamp, kind: LogKind, replica: ReplicaID,
        sharing: SharingRequest? = nil
    ) -> StoreCore {
        let storage = MemoryLog(kind: kind, replica: replica)
        let attached = projections.withRows { place, rows in
            rows.attach(
                to: storage, number: UInt32(place + 1), format: codec.format ?? .none, sequence: 0,
                faults: [])
        }
        let writer: LogWriter
        let shared: SharedConflicts
        do throws(LogError) {
            let request = sharing ?? projections.sharing(nil)
            let choice = try request.choice(
                insteadOf: SharedConflicts(), at: 0, path: storage.path)
            shared = try storage.note(
                choice, insteadOf: SharedConflicts(), at: 0, names: request.names)
            var fold = LogFold(of: storage, attached, sharing: shared)
            try fold.beginConflictNotes(in: storage, codec: codec)
            writer = try LogWriter(
                fold, attempts: Attempts(), on: storage, codec: codec, clock: clock)
        } catch {
            preconditionFailure("an empty log in memory cannot be damaged: \(error)")
        }
        let start = ReplayStart(checkpoint: 0, entriesFolded: 0, refused: [])
        return StoreCore(
            CommandRunner(
                storage, writer, hasThread: false, clock: Platform.monotonicNanoseconds),
            codec: codec, start: start,
            policy: .manual, projections: projections, shared: shared)
    }

    /// Waits for a compaction that runs, carries out the queued requests, refuses all others, and closes the
    /// log. A second call waits for the first.
    package func close() async {
        // What is prepared needs the open log. Sessions can be short, so it is worth the wait.
        await compaction.end()
        await runner.close()
    }
}
