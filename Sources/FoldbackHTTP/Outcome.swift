import FoldbackSync
import Synchronization

/// A result that comes once: from its source, a time limit, or a cancellation.
final class Outcome<Value: Sendable>: Sendable {
    typealias Ending = Result<Value, AuthorityFailure>

    private struct State {
        var ending: Ending?
        var continuation: CheckedContinuation<Ending, Never>?
    }

    private let state = Mutex(State())

    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Gives the result, unless there is one.
    func end(_ ending: Ending) {
        let continuation = state.withLock { state in
            guard state.ending == nil else { return nil as CheckedContinuation<Ending, Never>? }
            state.ending = ending
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: ending)
    }

    /// Waits for the result, also if its source does not notice a cancellation.
    ///
    /// - Parameter stop: stops the source after the limit or a cancellation.
    /// - Throws: the failure of the source, or `.unreachable`.
    func value(
        within limit: Duration, stopping stop: @escaping @Sendable () -> Void
    ) async throws(AuthorityFailure) -> Value {
        let deadline = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            end(.failure(.unreachable(reason: "there was no answer within \(limit)")))
            stop()
        }
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ending = state.withLock { state in
                    if state.ending == nil { state.continuation = continuation }
                    return state.ending
                }
                if let ending { continuation.resume(returning: ending) }
            }
        } onCancel: {
            end(.failure(.unreachable(reason: "the call was canceled")))
            stop()
        }.get()
    }
}
