import Synchronization

/// The one place that changes a log: it decides, writes, publishes and answers (F15, L3).
///
/// ```
///  requests ─▶ decide each ─▶ one transaction ─▶ publish the view ─▶ resume callers ─▶ answers
///             (working state)     (storage)        (published)
/// ```
///
/// On disk a thread of its own calls ``commit(_:)``, for a commit flushes; in memory whoever comes
/// first does.
package final class LogWriter: Sendable {
    private let storage: any LogStorage
    private let codec: any PayloadCodec
    private let clock: @Sendable () -> Timestamp
    private let working: Mutex<WorkingLog>
    private let publication: Mutex<Publication>
    private let committedAttempts: Mutex<Attempts>
    private let latch = Mutex<StorageFailure?>(nil)
    package let listeners = Listeners()

    /// - Parameters:
    ///   - fold: of the whole log.
    ///   - attempts: of its pending intents.
    /// - Throws: `.damaged` where a row cannot be read that a pending intent asks for; `.storage` where the
    ///   file cannot.
    package init(
        _ fold: LogFold, attempts: Attempts, on storage: any LogStorage, codec: any PayloadCodec,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(FoldbackError) {
        self.storage = storage
        self.codec = codec
        self.clock = clock
        committedAttempts = Mutex(attempts)
        var working = WorkingLog(
            fold, attempts: attempts, replicas: storage.header.replicas)
        publication = Mutex(Publication(current: working.makePublishedState()))
        storage.endReadingForWriting()
        if let failure = working.fold.failure { throw failure }
        self.working = Mutex(working)
    }

    /// The last committed state; any thread, O(1).
    package var publishedState: PublishedState { publication.withLock { $0.current } }

    /// What belongs to the rows of a commit that is being read.
    ///
    /// Nil where commits have gone on meanwhile: a newer one is to be read.
    package func publishedState(at sequence: LogSequence) -> PublishedState? {
        publication.withLock { $0.publishedState(at: sequence) }
    }

    /// Attempts of pending intents as the last commit left them; any thread, O(1).
    package var attempts: Attempts { committedAttempts.withLock { $0 } }

    // MARK: One transaction

    /// Carries out requests in their order, in one transaction.
    ///
    /// Where that fails before anything can be on disk, it is as if it had not been tried, and the
    /// requests are carried out one by one: the offender alone fails (L6).
    package func commit(_ requests: [Request]) {
        if let failure = latched {
            for request in requests { request.complete(.failure(.latched(failure))) }
            return
        }
        let written = working.withLock { working in write(requests, &working) }
        switch written {
        case .done(let results, let answered):
            for (request, result) in zip(requests, results) { request.complete(result) }
            listeners.notifyAnswered(answered)
        case .failed(let results, let failure):
            for (request, result) in zip(requests, results) {
                request.complete(.failure(Self.error(failure, insteadOf: result)))
            }
        case .rolledBack(let error):
            guard requests.count > 1 else {
                requests.first?.complete(.failure(error))
                return
            }
            for request in requests { commit([request]) }
        }
    }

    private enum Written {
        case done([Result<RequestResult, FoldbackError>], answered: [IntentNumber])
        /// The store is latched.
        case failed([Result<RequestResult, FoldbackError>], StorageFailure)
        /// Nothing has changed.
        case rolledBack(FoldbackError)
    }

    private func write(_ requests: [Request], _ working: inout WorkingLog) -> Written {
        let before = working
        working.beginTransaction(isWatched: listeners.watchesRows)
        var results = requests.map { carryOut($0.work, in: &working) }
        if !working.batch.isEmpty {
            // Everything is folded before the commit, so that the view follows it at once (F15).
            let next = working.batch.records.isEmpty ? nil : working.makePublishedState()
            let changes = next == nil ? [] : working.fold.rows.map { $0.changes() }
            if next != nil { working.addRows() }
            storage.endReadingForWriting()
            if let failure = working.fold.failure {
                working = before
                return .rolledBack(failure)
            }
            if let next { publication.withLock { $0.upcoming = next } }  // mutant: before-commit
            do throws(StorageFailure) {
                try storage.write(working.batch)
            } catch {
                publication.withLock { $0.upcoming = nil }
                guard error.leavesOutcomeUnknown else {
                    working = before
                    return .rolledBack(.storage(error))
                }
                latch.withLock { $0 = error }
                return .failed(results, error)
            }
            if !working.batch.attempts.isEmpty {
                committedAttempts.withLock { $0 = working.attempts }
            }
            if let next {
                publication.withLock { $0.publish(next) }  // mutant: publish
                listeners.notifyPublished(next, changes)
            }
        }
        storage.endReadingForWriting()
        if let failure = working.fold.failure {
            working = before
            return .rolledBack(failure)
        }
        let answered = working.answered
        // What the transaction held is in the log, and must not be kept until the next one.
        working.beginTransaction(isWatched: false)
        sync(requests, &results)
        return .done(results, answered: answered)
    }

    /// Flushes where somebody asked for it. What was written is in the log; that it survives a power cut
    /// is what a failure leaves open.
    private func sync(
        _ requests: [Request], _ results: inout [Result<RequestResult, FoldbackError>]
    ) {
        let asking = requests.indices.filter {
            requests[$0].work.asksForSync(isRelaxed: storage.isRelaxed)
        }
        guard !asking.isEmpty else { return }
        do throws(StorageFailure) {
            try storage.sync()
        } catch {
            latch.withLock { $0 = error }
            for index in asking { results[index] = .failure(.outcomeUnknown(intent: nil, error)) }
        }
    }

    /// Why the store takes no more commands; nil while it does (L6).
    package var latched: StorageFailure? { latch.withLock { $0 } }

    /// What the callers of a failed transaction hear (L6): where the disk may have it, "unknown", with
    /// the intent's id; decisions in the same transaction rest on it and are as unknown.
    private static func error(
        _ failure: StorageFailure, insteadOf result: Result<RequestResult, FoldbackError>
    ) -> FoldbackError {
        guard case .success(let outcome) = result else {
            return .outcomeUnknown(intent: nil, failure)
        }
        switch outcome {
        case .recorded(let id, _), .joined(let id, _):
            return .outcomeUnknown(intent: id.number, failure)
        case .appended, .ignored, .confirmed, .batchIgnored, .synced, .attempted,
            .checkpointsChanged:
            return .outcomeUnknown(intent: nil, failure)
        }
    }

    // MARK: One request

    private func carryOut(
        _ work: Request.Work, in working: inout WorkingLog
    ) -> Result<RequestResult, FoldbackError> {
        do throws(FoldbackError) {
            switch work {
            case .sync: return .success(.synced)
            case .recordAttempts(let attempts, _):
                return .success(.attempted(working.recordAttempts(attempts)))
            case .writeCheckpointRow(let row):
                working.writeCheckpointRow(row)
                return .success(.checkpointsChanged)
            case .removeCheckpointRows(let keys):
                working.removeCheckpointRows(keys)
                return .success(.checkpointsChanged)
            case .command(let command, let isForced):
                return .success(try carryOut(command, isForced: isForced, in: &working))
            }
        } catch {
            return .failure(error)
        }
    }

    private func carryOut(
        _ command: Command, isForced: Bool, in working: inout WorkingLog
    ) throws(FoldbackError) -> RequestResult {
        let subjects = try working.lookUpSettled(
            command.named(in: storage.header.replicas), in: storage, codec)
        let time = clock()
        let decision = working.fold.state.decision(
            for: command, settled: subjects.mapValues(\.intent), time: time)
        func append(_ entry: Entry) throws(FoldbackError) -> LogSequence {
            if !isForced, let reason = working.tryApply(entry) {
                throw .inapplicable(reason: reason)
            }
            working.appendEntry(entry, time: time, subjects: subjects)
            return working.fold.state.sequence
        }
        switch decision {
        case .append(.intent(let recorded)):
            return .recorded(recorded.id, try append(.intent(recorded)))
        case .append(.confirmed(let batch)):
            let sequence = try append(.confirmed(batch))
            return .confirmed(sequence, through: working.fold.state.through)
        case .append(.changed(let number, .withdrawn))
        where working.attempts[number] != nil:  // mutant: withdrawal
            throw .mayHaveLeft(number)
        case .append(let entry): return .appended(try append(entry))
        case .join(let number, let entry):
            guard let joined = working.fold.state.overlay[number]?.recorded else {
                preconditionFailure("joined intent \(number) is not in the overlay")
            }
            let sequence = try entry.map { entry throws(FoldbackError) in try append(entry) }
            return .joined(joined.id, sequence ?? joined.sequence)
        case .ignore(let state): return .ignored(state)
        case .ignoreBatch: return .batchIgnored(through: working.fold.state.through)
        case .refuse(let refusal): throw FoldbackError(refusal)
        }
    }
}

/// What readers get, and what they may meet on the disk beside it.
private struct Publication {
    var current: PublishedState
    /// The one before: somebody may have begun to read it.
    private var previous: PublishedState?
    /// Written and not yet published.
    var upcoming: PublishedState?

    init(current: PublishedState) { self.current = current }

    mutating func publish(_ next: PublishedState) {
        previous = next.rows.isEmpty ? nil : current
        current = next
        upcoming = nil
    }

    func publishedState(at sequence: LogSequence) -> PublishedState? {
        [current, upcoming, previous].lazy.compactMap { $0 }.first { $0.sequence == sequence }
    }
}

extension Request.Work {
    /// Whether the commit alone is not enough for it.
    fileprivate func asksForSync(isRelaxed: Bool) -> Bool {
        switch self {
        case .sync: true
        case .recordAttempts(_, let flushes): flushes && isRelaxed
        case .command, .writeCheckpointRow, .removeCheckpointRows: false
        }
    }
}
