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
    /// What is published, and who waits for it.
    package let publication: Publication
    let pageCheck = PageCheck()

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
    ) throws(LogError) {
        self.storage = storage
        self.codec = codec
        self.clock = clock
        var fold = fold
        // A copied log has a fresh replica id (L11), and what has an earlier one is also elsewhere.
        let replica = storage.header.replicas.current
        fold.state.facts = LogFacts(
            attempts: attempts,
            sentElsewhere: Set(
                fold.state.sentElsewhere { $0.replica != replica }.map(\.number)),
            lineage: try storage.lineage(), digest: try storage.digest(),
            lostData: try storage.lostData(), seenFaults: try storage.seenFaults())
        publication = Publication(fold.makePublishedState())
        storage.endReadingForWriting()
        if let failure = fold.failure { throw failure }
        working = Mutex(
            WorkingLog(fold, replicas: storage.header.replicas, renewing: renewed))
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
        if let refusal = publication.read(\.refusal) ?? refusalByPages() {
            for request in first { request.complete(.failure(.log(refusal))) }
            return 0
        }
        var requests: [Request] = []
        let written = working.withLock { working in
            write(first, joining, &requests, &working)
        }
        switch written {
        case .done(let results, let answered):
            for (request, result) in zip(requests, results) { request.complete(result) }
            publication.deliver(answered)
            return requests.callerCount
        case .failed(let results, let failure):
            for (request, result) in zip(requests, results) {
                request.complete(.failure(result.unknown(after: failure)))
            }
            return 0
        case .unwritten(let error):
            guard requests.count == 1 else {
                return requests.reduce(0) { $0 + commit([$1]) }
            }
            guard case .answers(let commands, let lineage) = requests[0].work, commands.count > 1
            else {
                requests[0].complete(.failure(.log(error)))
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
        var results: [Result<RequestResult, CommandError>] = []
        var answered: [IntentNumber] = []
        for command in commands {
            let (result, numbers) = commitAlone(.answer(command, from: lineage))
            results.append(result)
            answered += numbers
        }
        request.complete(.success(.answers(results)))  // mutant: apart-order
        publication.deliver(answered)
    }

    /// Carries out work in its own transaction.
    ///
    /// - Returns: the outcome, and the intents whose answers the caller still delivers.
    private func commitAlone(
        _ work: Request.Work
    ) -> (Result<RequestResult, CommandError>, answered: [IntentNumber]) {
        if let refusal = publication.read(\.refusal) { return (.failure(.log(refusal)), []) }
        var requests: [Request] = []
        let written = working.withLock { working in
            write([Request(work, bytes: 0)], { _ in [] }, &requests, &working)
        }
        switch written {
        case .done(let results, let answered): return (results[0], answered)
        case .failed(let results, let failure):
            return (.failure(results[0].unknown(after: failure)), [])
        case .unwritten(let error): return (.failure(.log(error)), [])
        }
    }

    private enum Written {
        case done([Result<RequestResult, CommandError>], answered: [IntentNumber])
        /// The outcome is unknown, and the store is latched.
        case failed([Result<RequestResult, CommandError>], StorageFailure)
        /// Nothing has changed.
        case unwritten(LogError)
    }

    /// Decides on all requests, writes one transaction, and publishes the new state.
    ///
    /// Adds the requests of the transaction to `requests`.
    ///
    /// If an intent leaves the view, ``WorkingLog/prepareToPublish()`` rolls the view back at the latest (F10).
    /// If the transaction fails before anything can be on disk, this function restores the working log as
    /// it was before (L6).
    private func write(
        _ first: [Request], _ joining: (TransactionRoom) -> [Request],
        _ requests: inout [Request], _ working: inout WorkingLog
    ) -> Written {
        let before = working
        working.beginTransaction(isWatched: publication.watchesRows)
        var results = decide(on: first, joining, &requests, &working)
        // Folds everything before the commit, so that the view is published right after it (F15).
        let next = working.batch.hasEntries ? working.prepareToPublish() : nil
        let changes = next == nil ? [] : working.fold.rows.map { $0.changes() }
        working.writeRenewedNotes()
        storage.endReadingForWriting()
        if let failure = working.fold.failure {
            working = before
            guard case .storage(let cause) = failure else { return .unwritten(failure) }
            return unwritten(failure, cause)
        }
        do throws(StorageFailure) { try commitAndPublish(working, next, changes) } catch {
            guard error.leavesOutcomeUnknown else {
                working = before
                return unwritten(error.unwritten, error)
            }
            latch(error)
            return .failed(results, error)
        }
        if let shared = working.superseded { publication.change { $0.superseded = shared } }
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
    ///   - changes: as for ``Publication/publish(_:_:)``.
    /// - Throws: the storage's failure; nothing was published.
    private func commitAndPublish(
        _ working: WorkingLog, _ next: PublishedState?, _ changes: [[RowChangeBytes]?]
    ) throws(StorageFailure) {
        guard !working.batch.isEmpty else { return }
        precondition(
            working.batch.records.last == next?.sequence,
            "the transaction ends at another entry than the state to publish (F15)")
        if let next { publication.announce(next) }  // mutant: before-commit
        do throws(StorageFailure) { try storage.write(working.batch) } catch {
            publication.announce(nil)
            throw error
        }
        if let next {
            publication.publish(next, changes)  // mutant: publish
        } else if working.batch.hasFactsBeside {
            publication.change { $0.facts = working.fold.state.facts }
        }
    }

    /// Decides on the first requests, and on those that join while it does.
    ///
    /// - Returns: the result of each request in `requests`, to which this adds them.
    private func decide(
        on first: [Request], _ joining: (TransactionRoom) -> [Request],
        _ requests: inout [Request], _ working: inout WorkingLog
    ) -> [Result<RequestResult, CommandError>] {
        var results: [Result<RequestResult, CommandError>] = []
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
    private func unwritten(_ error: LogError, _ cause: StorageFailure) -> Written {
        if cause.endsWriting { latch(cause) }
        return .unwritten(error)
    }

    /// Flushes the file if a request asks for it.
    ///
    /// If that fails, everything is in the log, but may not survive a power cut. These requests get
    /// `.outcomeUnknown`, and the store is latched (L6).
    private func sync(
        _ requests: [Request], _ results: inout [Result<RequestResult, CommandError>]
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
            let unknown = CommandError.log(.outcomeUnknown(intent: nil, error))
            for index in asking { results[index] = .failure(unknown) }
        }
    }

    /// Checks the file's pages before the first transaction. Damage and a lost file latch the store.
    ///
    /// After any other failure nothing was checked, and the next transaction begins with the check.
    /// - Complexity: O(n) in the pages of the file.
    func checkPages() {
        var failure: StorageFailure?
        do throws(StorageFailure) { try storage.requireSoundPages() } catch { failure = error }
        // A listener may read a settlement on this thread, so readers stop waiting first.
        pageCheck.finish(failure)
        if let failure, failure.endsWriting { latch(failure) }  // mutant: page-finding
    }

    /// Checks the pages again if the check could not read the file before.
    ///
    /// - Returns: why no command can be carried out now; nil if the pages are sound. A decision on
    ///   unchecked pages could be wrong even if it writes nothing.
    private func refusalByPages() -> LogError? {
        guard pageCheck.isUnable else { return nil }
        checkPages()
        do throws(LogError) { try pageCheck.requireSoundPages() } catch { return error }
        return nil
    }

    private func latch(_ failure: StorageFailure) { publication.change { $0.latched = failure } }
}
