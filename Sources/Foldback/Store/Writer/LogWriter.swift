import FoldbackLMDB
import Synchronization

/// The one place that changes a log. It decides on commands, writes entries, publishes views and
/// delivers answers (F15, L3).
///
/// ```
///  requests ─▶ decide each ─▶ one transaction ─▶ publish the view ─▶ resume callers ─▶ answers
///             (working state)     (storage)        (published)
/// ```
///
/// To decide, `LogWriter+Requests.swift` calls ``WorkingLog/carryOut(_:isForced:at:reading:_:)``. It
/// has both ways to carry out a command: the lean path of ``PlainEntry``, and the general path.
///
/// On disk, a dedicated thread calls ``commit(_:joining:)``, because a commit waits for the disk. In
/// memory, the thread of a caller does.
package final class LogWriter: Sendable {
    let storage: any LogStorage
    let codec: any PayloadCodec
    let clock: @Sendable () -> Timestamp
    private let working: Mutex<WorkingLog>
    private let publication: Monitor<Publication>
    private let committedLineage: Mutex<Lineage?>
    private let latchedFailure = Mutex<StorageFailure?>(nil)
    private let sharedWithOther: Mutex<Position?>
    let pageCheck = PageCheck()
    package let listeners = Listeners()

    /// Applies the overlay's intents, and publishes the state of the log.
    ///
    /// - Parameters:
    ///   - fold: the whole log, folded.
    ///   - attempts: the attempts of its pending intents.
    ///   - renewed: notes of projections that the first transaction also writes.
    /// - Throws: `.damaged` if the lineage, or a row that an intent of the overlay reads, is damaged;
    ///   `.newerFormat`; `.storage` if the file cannot be read.
    package init(
        _ fold: LogFold, attempts: Attempts, renewing renewed: [RegisteredProjection] = [],
        on storage: any LogStorage, codec: any PayloadCodec,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(FoldbackError) {
        self.storage = storage
        self.codec = codec
        self.clock = clock
        let lineage = try storage.lineage()
        committedLineage = Mutex(lineage)
        let lostData = try storage.lostData()
        sharedWithOther = Mutex(lostData?.shared)
        var fold = fold
        var published = fold.makePublishedState()
        published.attempts = attempts
        publication = Monitor(Publication(current: published))
        storage.endReadingForWriting()
        if let failure = fold.failure { throw failure }
        working = Mutex(
            WorkingLog(
                fold, attempts: attempts, lineage: lineage, lostData: lostData,
                replicas: storage.header.replicas, renewing: renewed))
    }

    /// The last committed state. O(1), from any thread.
    package var publishedState: PublishedState { publication.withLock { $0.current } }

    /// Returns the state for a snapshot of the stored rows at `sequence`. O(1), from any thread.
    ///
    /// - Returns: nil if the state is not kept any more, because there were newer commits, or if
    ///   the commit failed.
    package func publishedState(at sequence: LogSequence) -> PublishedState? {
        publication.withLock { $0.publishedState(at: sequence) }
    }

    /// Waits until readers of views see the state at `sequence` or a later state. Returns true then;
    /// returns false if the commit failed.
    ///
    /// Blocks the calling thread between a commit and its publication. That is short, except when
    /// the first relaxed commit of a store flushes the file. May be called inside a read, because the
    /// writer needs no room between these steps.
    ///
    /// - Parameter sequence: of a state that ``publishedState(at:)`` returned.
    func waitUntilPublished(_ sequence: LogSequence) -> Bool {
        publication.wait { publication in
            if publication.current.sequence >= sequence { return true }
            return publication.upcoming == nil ? false : nil
        } ?? false
    }

    /// The attempts of pending intents at the last commit. O(1), from any thread.
    package var attempts: Attempts { publishedState.attempts }

    /// The lineage of the authority at the last commit; nil if none was named yet. O(1), from any
    /// thread.
    package var lineage: Lineage? { committedLineage.withLock { $0 } }

    /// The last position that the log shares with an authority that superseded it; nil if none did
    /// (N6). O(1), from any thread.
    package var superseded: Position? {
        get { sharedWithOther.withLock { $0 } }
        set {
            sharedWithOther.withLock { $0 = newValue }
            if newValue != nil { listeners.notifyStopped() }
        }
    }

    /// Why nothing more can be sent or fetched for this log; nil if nothing is in the way: the store
    /// is latched (L6), or the log is superseded (N6). O(1), from any thread.
    package var syncObstacle: FoldbackError? {
        if let refusal { return refusal }
        return superseded.map { .superseded(shared: $0) }
    }

    // MARK: One transaction

    /// Carries out requests in their order, in one transaction, and completes them.
    ///
    /// If the transaction fails before anything can be on disk, it is taken back. Then each request
    /// is carried out in its own transaction, so only the request that causes the failure fails
    /// (L6).
    ///
    /// - Parameters:
    ///   - first: the requests that begin the transaction.
    ///   - joining: returns requests that join it, called after each decision on requests until it
    ///     returns none. It gets the room that the transaction has left.
    /// - Returns: the number of callers that were resumed and may record again at once.
    @discardableResult
    package func commit(
        _ first: [Request], joining: (TransactionRoom) -> [Request] = { _ in [] }
    ) -> Int {
        if let refusal = refusal ?? refusalByPages() {
            for request in first { request.complete(.failure(refusal)) }
            return 0
        }
        var requests: [Request] = []
        let written = working.withLock { working in
            write(first, joining, &requests, &working)
        }
        switch written {
        case .done(let results, let answered):
            for (request, result) in zip(requests, results) { request.complete(result) }
            listeners.notifyAnswered(answered)
            return requests.callerCount
        case .failed(let results, let failure):
            for (request, result) in zip(requests, results) {
                request.complete(.failure(result.unknown(after: failure)))
            }
            return 0
        case .rolledBack(let error):
            guard requests.count == 1 else {
                return requests.reduce(0) { $0 + commit([$1]) }
            }
            guard case .answers(let commands, let lineage) = requests[0].work, commands.count > 1
            else {
                requests[0].complete(.failure(error))
                return 0
            }
            commitApart(commands, from: lineage, for: requests[0])
            return 0
        }
    }

    /// Carries out each of a request's answers in its own transaction, so only the answer that
    /// causes the failure fails (L6). Then completes the request, and delivers the answers (F15).
    private func commitApart(
        _ commands: [Command], from lineage: Lineage?, for request: Request
    ) {
        var results: [Result<RequestResult, FoldbackError>] = []
        var answered: [IntentNumber] = []
        for command in commands {
            let (result, numbers) = commitAlone(.answer(command, from: lineage))
            results.append(result)
            answered += numbers
        }
        request.complete(.success(.answers(results)))  // mutant: apart-order
        listeners.notifyAnswered(answered)
    }

    /// Carries out work in its own transaction.
    ///
    /// - Returns: the outcome, and the intents whose answers the caller still delivers.
    private func commitAlone(
        _ work: Request.Work
    ) -> (Result<RequestResult, FoldbackError>, answered: [IntentNumber]) {
        if let refusal { return (.failure(refusal), []) }
        var requests: [Request] = []
        let written = working.withLock { working in
            write([Request(work, bytes: 0)], { _ in [] }, &requests, &working)
        }
        switch written {
        case .done(let results, let answered): return (results[0], answered)
        case .failed(let results, let failure):
            return (.failure(results[0].unknown(after: failure)), [])
        case .rolledBack(let error): return (.failure(error), [])
        }
    }

    private enum Written {
        case done([Result<RequestResult, FoldbackError>], answered: [IntentNumber])
        /// The outcome is unknown, and the store is latched.
        case failed([Result<RequestResult, FoldbackError>], StorageFailure)
        /// Nothing has changed.
        case rolledBack(FoldbackError)
    }

    /// Decides on all requests, writes one transaction, and publishes the new state.
    ///
    /// Adds the requests of the transaction to `requests`.
    ///
    /// If an intent leaves the view, ``WorkingLog/prepareToPublish()`` rolls the view back (F10). If
    /// the transaction fails before anything can be on disk, this function rolls it back: the
    /// working log is then what it was before (L6).
    private func write(
        _ first: [Request], _ joining: (TransactionRoom) -> [Request],
        _ requests: inout [Request], _ working: inout WorkingLog
    ) -> Written {
        let before = working
        working.beginTransaction(isWatched: listeners.watchesRows)
        var results = decide(on: first, joining, &requests, &working)
        // Folds everything before the commit, so that the view is published right after it (F15).
        let next = working.batch.hasEntries ? working.prepareToPublish() : nil
        let changes = next == nil ? [] : working.fold.rows.map { $0.changes() }
        working.writeRenewedNotes()
        storage.endReadingForWriting()
        if let failure = working.fold.failure {
            working = before
            guard case .storage(let cause) = failure else { return .rolledBack(failure) }
            return rolledBack(failure, cause)
        }
        do throws(StorageFailure) { try commitAndPublish(working, next, changes) } catch {
            guard error.leavesOutcomeUnknown else {
                working = before
                return rolledBack(error.unwritten, error)
            }
            latch(error)
            return .failed(results, error)
        }
        if let shared = working.superseded { superseded = shared }
        let answered = working.answered
        // Releases the content of this transaction, which is in the log now.
        working.beginTransaction(isWatched: false)
        sync(requests, &results)
        return .done(results, answered: answered)
    }

    /// Writes the transaction if it changes anything, and publishes the next state (F15).
    ///
    /// - Parameters:
    ///   - next: nil if the transaction has no entries.
    ///   - changes: as for ``Listeners/notifyPublished(_:_:)``.
    /// - Throws: the storage's failure; nothing was published.
    private func commitAndPublish(
        _ working: WorkingLog, _ next: PublishedState?, _ changes: [[RowChangeBytes]?]
    ) throws(StorageFailure) {
        guard !working.batch.isEmpty else { return }
        if let next { publication.withLock { $0.upcoming = next } }  // mutant: before-commit
        do throws(StorageFailure) { try storage.write(working.batch) } catch {
            publication.withLock { $0.upcoming = nil }
            publication.wakeAll()
            throw error
        }
        committedLineage.withLock { $0 = working.lineage }
        if let next {
            publication.withLock { $0.publish(next) }  // mutant: publish
            publication.wakeAll()
            listeners.notifyPublished(next, changes)
        } else if working.batch.hasAttempts {
            publication.withLock { $0.current.attempts = working.attempts }
            listeners.notifyBeside()
        }
    }

    /// Decides on the first requests, and on those that join while it does.
    ///
    /// - Returns: the result of each request in `requests`, to which this adds them.
    private func decide(
        on first: [Request], _ joining: (TransactionRoom) -> [Request],
        _ requests: inout [Request], _ working: inout WorkingLog
    ) -> [Result<RequestResult, FoldbackError>] {
        var results: [Result<RequestResult, FoldbackError>] = []
        var room = TransactionRoom()
        var next = first
        while !next.isEmpty {
            requests += next
            for request in next {
                room.add(request)
                results.append(carryOut(request.work, in: &working))
            }
            // Nothing joins a transaction that will be taken back.
            next = working.fold.failure == nil ? joining(room) : []
            working.forgetTime()
        }
        return results
    }

    /// Returns the outcome of a transaction that left nothing. Latches the store if no later
    /// transaction can succeed either.
    private func rolledBack(_ error: FoldbackError, _ cause: StorageFailure) -> Written {
        if cause.endsWriting { latch(cause) }
        return .rolledBack(error)
    }

    /// Flushes the file if a request asks for it.
    ///
    /// If that fails, everything is in the log, but may not survive a power cut. These requests get
    /// `.outcomeUnknown`, and the store is latched (L6).
    private func sync(
        _ requests: [Request], _ results: inout [Result<RequestResult, FoldbackError>]
    ) {
        let isRelaxed = storage.isRelaxed
        let asking = requests.indices.filter {
            requests[$0].syncNeed.asksForSync(isRelaxed: isRelaxed)
        }
        guard !asking.isEmpty else { return }
        do throws(StorageFailure) {
            try storage.sync()
        } catch {
            latch(error)
            for index in asking { results[index] = .failure(.outcomeUnknown(intent: nil, error)) }
        }
    }

    /// The failure that makes the store refuse commands; nil if it accepts them (L6).
    package var latched: StorageFailure? { latchedFailure.withLock { $0 } }

    /// The error of all commands; nil if the store accepts them (L6).
    package var refusal: FoldbackError? { latched?.refusal }

    /// Checks the file's pages before the first transaction. Damage and a lost file latch the store.
    ///
    /// After any other failure nothing was checked, and the next transaction begins with the check.
    /// - Complexity: O(n) in the pages of the file.
    func checkPages() {
        var failure: StorageFailure?
        do throws(StorageFailure) { try storage.requireSoundPages() } catch { failure = error }
        let finding = failure.flatMap { $0.endsWriting ? $0 : nil }
        if let finding {
            latchedFailure.withLock { $0 = finding }  // mutant: page-finding
        }
        pageCheck.finish(failure)
        // A listener may read a settlement on this thread, so readers stop waiting first.
        if finding != nil { listeners.notifyStopped() }
    }

    /// Checks the pages again if the check could not read the file before.
    ///
    /// - Returns: why no command can be carried out now; nil if the pages are sound. A decision on
    ///   unchecked pages could be wrong even if it writes nothing.
    private func refusalByPages() -> FoldbackError? {
        guard pageCheck.isUnable else { return nil }
        checkPages()
        do throws(FoldbackError) { try pageCheck.requireSoundPages() } catch { return error }
        return nil
    }

    private func latch(_ failure: StorageFailure) {
        latchedFailure.withLock { $0 = failure }
        listeners.notifyStopped()
    }
}
