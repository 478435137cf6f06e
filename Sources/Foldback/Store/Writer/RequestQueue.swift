import FoldbackLMDB

/// The bounded queue between callers and the one place that writes (L3).
///
/// A request is *queued* once there is room for it, and from then on its caller gets the true outcome.
/// Before that it waits in order of arrival, and may be cancelled. Whatever has been queued while one
/// transaction is being committed goes into the next (group commit); there is no timer.
package final class RequestQueue: Sendable {
    package typealias Admitted = UnsafeContinuation<Result<Void, FoldbackError>, Never>

    package enum Admission: Sendable { case queued, full, closed }

    private struct State {
        var queued: [Request] = []
        var queuedBytes = 0
        var waiting: [(request: Request, continuation: Admitted)] = []
        var isClosed = false
        /// Somebody takes requests out, or is about to.
        var isDraining = false

        var isFull: Bool {
            queued.count >= Limits.queueCountMax || queuedBytes >= Limits.queueBytesMax
        }

        mutating func append(_ request: Request) {
            queued.append(request)
            queuedBytes += request.bytes
        }
    }

    private let monitor = Monitor(State())
    private let closed: FoldbackError

    package init(path: String) { closed = .closed(path: path) }

    // MARK: Callers

    /// Queues the request if there is room and nobody waits already.
    package func offer(_ request: Request) -> Admission {
        let (admission, wakes) = monitor.withLock { state -> (Admission, Bool) in
            if state.isClosed { return (.closed, false) }
            guard !state.isFull, state.waiting.isEmpty else { return (.full, false) }
            state.append(request)
            return (.queued, state.queued.count == 1)
        }
        if wakes { monitor.wakeAll() }
        return admission
    }

    /// Queues as many of the requests as there is room for, in their order and at once.
    /// - Returns: how many; nil where the queue is closed.
    package func offer(contentsOf requests: [Request]) -> Int? {
        let (count, wakes) = monitor.withLock { state -> (Int?, Bool) in
            if state.isClosed { return (nil, false) }
            let wasEmpty = state.queued.isEmpty
            var count = 0
            while count < requests.count, !state.isFull, state.waiting.isEmpty {
                state.append(requests[count])
                count += 1
            }
            return (count, wasEmpty && count > 0)
        }
        if wakes { monitor.wakeAll() }
        return count
    }

    /// Queues the request as soon as there is room.
    package func wait(for request: Request, _ continuation: Admitted) {
        let isClosed = monitor.withLock { state in
            if !state.isClosed { state.waiting.append((request, continuation)) }
            return state.isClosed
        }
        if isClosed { continuation.resume(returning: .failure(closed)) } else { monitor.wakeAll() }
    }

    /// Takes back a request that is not queued yet; does nothing if it is.
    package func cancel(_ request: Request) {
        let continuation = monitor.withLock { state -> Admitted? in
            guard let place = state.waiting.firstIndex(where: { $0.request === request }) else {
                return nil
            }
            return state.waiting.remove(at: place).continuation
        }
        continuation?.resume(returning: .failure(.cancelled))
    }

    /// Nothing is queued any more; what is queued is carried out, who waits is turned away.
    package func close() {
        let turnedAway = monitor.withLock { state in
            state.isClosed = true
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        monitor.wakeAll()
        for (_, continuation) in turnedAway { continuation.resume(returning: .failure(closed)) }
    }

    // MARK: The writer

    /// The next transaction's requests; blocks until there are any. Nil: closed and empty.
    package func next() -> [Request]? {
        let taken = monitor.wait { state -> ([Request], [Admitted])? in
            let hasWork = !state.queued.isEmpty || !state.waiting.isEmpty
            return hasWork || state.isClosed ? take(&state) : nil
        }
        guard let (requests, admitted) = taken else { return nil }
        for continuation in admitted { continuation.resume(returning: .success(())) }
        return requests.isEmpty ? nil : requests
    }

    /// What somebody finds who would write for a store without a thread.
    package enum Turn: Sendable {
        /// To be carried out; then ask again.
        case requests([Request])
        /// Somebody else writes, and will see what is queued.
        case busy
        /// Nothing is queued; nothing ever will be if it is closed.
        case idle(isClosed: Bool)
    }

    /// The same without blocking, for a store without a thread.
    /// - Parameter isContinuing: the caller had the turn before.
    package func turn(isContinuing: Bool) -> Turn {
        let (turn, admitted) = monitor.withLock { state -> (Turn, [Admitted]) in
            guard isContinuing || !state.isDraining else { return (.busy, []) }
            let (requests, admitted) = take(&state)
            state.isDraining = !requests.isEmpty
            return (
                requests.isEmpty ? .idle(isClosed: state.isClosed) : .requests(requests), admitted
            )
        }
        for continuation in admitted { continuation.resume(returning: .success(())) }
        return turn
    }

    /// Up to one transaction's worth from the front, and who is queued in its place.
    private func take(_ state: inout State) -> ([Request], [Admitted]) {
        var admitted: [Admitted] = []
        admit(&state, &admitted)
        var count = 0
        var bytes = 0
        for request in state.queued {
            let isFirst = count == 0
            guard isFirst || bytes + request.bytes <= Limits.commitBytesMax,
                count < Limits.commitCountMax
            else { break }
            count += 1
            bytes += request.bytes
        }
        var taken = state.queued
        if count == taken.count {
            state.queued = []
        } else {
            taken.removeSubrange(count...)
            state.queued.removeSubrange(..<count)
        }
        state.queuedBytes -= bytes
        admit(&state, &admitted)
        return (taken, admitted)
    }

    private func admit(_ state: inout State, _ admitted: inout [Admitted]) {
        var count = 0
        while count < state.waiting.count, !state.isFull {
            state.append(state.waiting[count].request)
            admitted.append(state.waiting[count].continuation)
            count += 1
        }
        if count > 0 { state.waiting.removeSubrange(..<count) }
    }
}
