import Synchronization

/// A command on its way to the log, with its outcome, for which callers can wait.
package final class Request: Sendable {
    /// The work that the writer does for a request.
    package enum Work: Sendable {
        /// Carries out a command. `isForced`: an intent is recorded even if `apply` throws (F9).
        case command(Command, isForced: Bool)
        /// Records an intent that was rejected in the log that this log continues, and its rejection
        /// (N6). Both are in one transaction, so nothing sees the intent pending.
        case recordRejected(Proposal, Rejection)
        /// Carries out an answer or batch of the authority with this lineage and digest; nil if it named
        /// none. Nothing is recorded if the log knows others.
        case answer(Command, from: Lineage?, at: NotedDigest? = nil)
        /// Carries out answers of the authority with this lineage in their order. Each has its own
        /// outcome.
        case answers([Command], from: Lineage?)
        /// Notes the lineage of an authority whose answer records nothing.
        case noteLineage(Lineage)
        /// Notes that the authority has lost events; with nil, that it has all of them.
        case noteLostData(LostData?)
        /// Notes which faults a person has seen.
        case noteSeenFaults(SeenFaults)
        /// Notes the intents of the logs that this log continues.
        case noteContinued(ContinuedIntents)
        /// Makes everything that was written so far durable.
        case sync
        /// Records attempts of the intents that are still pending. `flushes`: everything before it,
        /// the intents included, then survives a power cut (L2).
        case recordAttempts([IntentNumber: Attempt], flushes: Bool)
        /// Writes a piece of a checkpoint (L4).
        case writeCheckpointRow(CheckpointRow)
        /// Removes pieces of a checkpoint that is no longer needed.
        case removeCheckpointRows([CheckpointKey])

        /// The number of commands, for the limits of queue and transaction.
        var weight: Int {
            switch self {
            case .answers(let commands, _): max(commands.count, 1)
            case .recordRejected: 2
            case .command(.recordAll(let proposals), _): max(proposals.count, 1)
            case .command, .answer, .noteLineage, .noteLostData, .noteSeenFaults, .noteContinued,
                .sync, .recordAttempts, .writeCheckpointRow, .removeCheckpointRows:
                1
            }
        }

        var syncNeed: SyncNeed {
            switch self {
            case .sync: .always
            case .recordAttempts(_, let flushes): flushes ? .ifRelaxed : .never
            case .command, .recordRejected, .answer, .answers, .noteLineage, .noteLostData,
                .noteSeenFaults, .noteContinued, .writeCheckpointRow, .removeCheckpointRows:
                .never
            }
        }
    }

    /// When work needs a flush in addition to its commit.
    package enum SyncNeed: Sendable {
        case never
        /// If a commit does not flush.
        case ifRelaxed
        case always

        func asksForSync(isRelaxed: Bool) -> Bool {
            switch self {
            case .never: false
            case .ifRelaxed: isRelaxed
            case .always: true
            }
        }
    }

    /// The continuation of a caller that waits from the start. It gets nil if the request was not
    /// queued.
    package typealias Caller = UnsafeContinuation<Result<RequestResult, CommandError>?, Never>
    private typealias Waiting = UnsafeContinuation<Result<RequestResult, CommandError>, Never>

    private enum State {
        case open
        /// One caller waits, as is usual, or several do.
        case awaited(Waiting, others: [Waiting])
        case done(Result<RequestResult, CommandError>)

        var result: Result<RequestResult, CommandError>? {
            guard case .done(let result) = self else { return nil }
            return result
        }
    }

    package let work: Work
    /// The approximate bytes that the work writes, for the limits of queue and transaction.
    package let bytes: Int
    /// The number of commands in the work.
    package let weight: Int
    let syncNeed: SyncNeed
    /// The only caller, if it waits from the start; nil if callers use ``outcome()``.
    private let caller: Caller?
    /// Whether `caller` was resumed. Resuming a continuation twice is undefined.
    private let isResumed = Atomic(false)
    private let state = Mutex(State.open)

    package init(_ work: Work, bytes: Int, caller: Caller? = nil) {
        self.work = work
        self.bytes = bytes
        weight = work.weight
        syncNeed = work.syncNeed
        self.caller = caller
    }

    /// Whether a caller waits from the start: usually a caller that will record again.
    package var hasCaller: Bool { caller != nil }

    /// Sets the outcome, and resumes the waiting callers. Traps if it was set before.
    package func complete(_ result: Result<RequestResult, CommandError>) {
        if let caller {
            let wasResumed = isResumed.exchange(true, ordering: .relaxed)
            precondition(!wasResumed, "a request was completed twice")
            caller.resume(returning: result)
            return
        }
        let before = state.withLock { state in
            defer { state = .done(result) }
            return state
        }
        switch before {
        case .open: break
        case .awaited(let waiting, let others):
            waiting.resume(returning: result)
            for other in others { other.resume(returning: result) }
        case .done: preconditionFailure("a request was completed twice")
        }
    }

    /// The outcome if it was set and no caller waits from the start.
    var result: Result<RequestResult, CommandError>? { state.withLock { $0.result } }

    /// Returns the true outcome, and waits for it. A canceled caller waits too, because the command
    /// is carried out anyway (L3).
    ///
    /// - Precondition: no caller waits from the start.
    package nonisolated(nonsending) func outcome() async throws(CommandError) -> RequestResult {
        precondition(caller == nil, "the caller of a request waits already")
        if let result { return try result.get() }
        let result = await withUnsafeContinuation { continuation in
            let result = state.withLock { state -> Result<RequestResult, CommandError>? in
                switch state {
                case .open: state = .awaited(continuation, others: [])
                case .awaited(let first, let others):
                    state = .awaited(first, others: others + [continuation])
                case .done(let result): return result
                }
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
        return try result.get()
    }
}

/// The outcome of a request that was carried out.
package enum RequestResult: Sendable {
    case recorded(IntentID, LogSequence)
    /// The intents of one action, and the entry of the first (F20).
    case recordedAll([IntentID], LogSequence)
    /// What undo or redo has taken back, and what it has recorded (F21).
    case reversed(withdrawn: [IntentNumber], recorded: [(id: IntentID, sequence: LogSequence)])
    /// The intent with the same once key, and its entry, or the entry that dismissed the retried
    /// rejection (F14).
    case joined(IntentID, LogSequence)
    case appended(LogSequence)
    case ignored(IntentState)
    /// The outcomes of ``Request/Work/answers(_:from:)``, in its order.
    case answers([Result<RequestResult, CommandError>])
    case confirmed(LogSequence, through: Position)
    case batchIgnored(through: Position)
    /// The attempts of these intents were recorded. The other intents are no longer pending.
    case attempted([IntentNumber])
    /// The work is done, and there is nothing to say about it.
    case done
}

extension Result where Success == RequestResult, Failure == CommandError {
    /// Returns the error for the request, whose transaction failed and may be on disk: "unknown",
    /// with the intent's number (L6).
    ///
    /// Refusals become unknown too, because they depend on the decisions before them in the same
    /// transaction.
    func unknown(after failure: StorageFailure) -> CommandError {
        guard case .success(let outcome) = self else {
            return .log(.outcomeUnknown(intent: nil, failure))
        }
        switch outcome {
        case .recorded(let id, _), .joined(let id, _):
            return .log(.outcomeUnknown(intent: id.number, failure))
        case .recordedAll(let ids, _):
            return .log(.outcomeUnknown(intent: ids.first?.number, failure))
        case .reversed(_, let recorded):
            return .log(.outcomeUnknown(intent: recorded.first?.id.number, failure))
        case .appended, .ignored, .confirmed, .batchIgnored, .answers, .attempted, .done:
            return .log(.outcomeUnknown(intent: nil, failure))
        }
    }
}
