import Synchronization

/// One command on its way to the log, and the place where its outcome is waited for.
package final class Request: Sendable {
    package enum Work: Sendable {
        /// `isForced`: recorded even if `apply` throws (F9).
        case command(Command, isForced: Bool)
        /// Makes everything written so far durable.
        case sync
        /// Writes attempts of those intents that are pending still. `flushes`: what came before, and the
        /// intents themselves, survive a power cut then (L2).
        case recordAttempts([IntentNumber: Attempt], flushes: Bool)
        /// Writes a piece of a checkpoint (L4).
        case writeCheckpointRow(CheckpointRow)
        /// Removes what is left of one that is no longer needed.
        case removeCheckpointRows([CheckpointKey])
    }

    private typealias Waiting = UnsafeContinuation<Result<RequestResult, FoldbackError>, Never>

    private enum State {
        case open
        /// By one caller, as almost always, and others.
        case awaited(Waiting, others: [Waiting])
        case done(Result<RequestResult, FoldbackError>)

        var result: Result<RequestResult, FoldbackError>? {
            guard case .done(let result) = self else { return nil }
            return result
        }
    }

    package let work: Work
    package let bytes: Int
    private let state = Mutex(State.open)

    package init(_ work: Work, bytes: Int) {
        self.work = work
        self.bytes = bytes
    }

    package func complete(_ result: Result<RequestResult, FoldbackError>) {
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

    /// The true outcome; a cancelled caller waits for it as well, for the command is on its way (L3).
    package nonisolated(nonsending) func outcome() async throws(FoldbackError) -> RequestResult {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        let result = await withUnsafeContinuation { continuation in
            let result = state.withLock { state -> Result<RequestResult, FoldbackError>? in
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

/// What became of a request.
package enum RequestResult: Sendable {
    case recorded(IntentID, LogSequence)
    /// The intent with the same once key, and its own entry (F14).
    case joined(IntentID, LogSequence)
    case appended(LogSequence)
    case ignored(IntentState)
    case confirmed(LogSequence, through: Position)
    case batchIgnored(through: Position)
    case synced
    /// Attempts of these intents were written; the others are pending no longer.
    case attempted([IntentNumber])
    case checkpointsChanged
}
