import FoldbackLMDB

/// The bounded queue between callers and the writer (L3).
///
/// A request is *queued* once there is room for it. From then on, its caller gets the true outcome.
/// Before that, it waits in order of arrival, and can be canceled.
///
/// Requests that were queued during a commit go into the next transaction (group commit). While the
/// writer decides on them, callers that it has just resumed can join (``ReturningCallers``).
package final class RequestQueue: Sendable {
    /// The continuation of a caller that waits for room in the queue.
    package typealias Admitted = UnsafeContinuation<Result<Void, CommandError>, Never>

    /// The result of offering a request.
    package enum Admission: Sendable { case queued, full, closed }

    private struct State {
        var queued: [Request] = []
        var queuedWeight = 0
        var queuedBytes = 0
        var waiting: [(request: Request, continuation: Admitted)] = []
        var isClosed = false
        /// Whether a thread carries out requests now (stores without a writer thread).
        var isDraining = false

        var isFull: Bool {
            queuedWeight >= Limits.queueCountMax || queuedBytes >= Limits.queueBytesMax
        }

        mutating func append(_ request: Request) {
            queued.append(request)
            queuedWeight += request.weight
            queuedBytes += request.bytes
        }
    }

    private let monitor = Monitor(State())
    private let closed: CommandError
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - path: the log's path, for errors.
    ///   - clock: returns nanoseconds, and never goes back.
    package init(path: String, clock: @escaping @Sendable () -> UInt64) {
        closed = .log(.closed(path: path))
        self.clock = clock
    }

    // MARK: Callers

    /// Queues the request if there is room and no other caller waits.
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

    /// Queues the first of the requests, as many as there is room for, in one step.
    ///
    /// - Returns: their number; nil if the queue is closed.
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

    /// Queues the request as soon as there is room, and then resumes the caller.
    package func wait(for request: Request, _ continuation: Admitted) {
        let isClosed = monitor.withLock { state in
            if !state.isClosed { state.waiting.append((request, continuation)) }
            return state.isClosed
        }
        if isClosed { continuation.resume(returning: .failure(closed)) } else { monitor.wakeAll() }
    }

    /// Removes a request that still waits for room, and resumes its caller with `.cancelled`. Does
    /// nothing if the request is queued.
    package func cancel(_ request: Request) {
        let continuation = monitor.withLock { state -> Admitted? in
            guard let place = state.waiting.firstIndex(where: { $0.request === request }) else {
                return nil
            }
            return state.waiting.remove(at: place).continuation
        }
        continuation?.resume(returning: .failure(.log(.cancelled)))
    }

    /// Closes the queue: refuses new requests, and resumes the waiting callers with `.closed`.
    /// Queued requests are still carried out.
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

    /// Returns the requests of the next transaction, and blocks until there are any. Nil if the
    /// queue is closed and empty.
    package func next() -> [Request]? {
        let taken = monitor.wait { state -> ([Request], [Admitted])? in
            let hasWork = !state.queued.isEmpty || !state.waiting.isEmpty
            return hasWork || state.isClosed ? take(&state) : nil
        }
        guard let (requests, admitted) = taken else { return nil }
        for continuation in admitted { continuation.resume(returning: .success(())) }
        return requests.isEmpty ? nil : requests
    }

    /// Returns requests that join the transaction that the writer is preparing. None if nobody is
    /// expected, nobody comes, or the transaction has no room.
    ///
    /// Blocks for at most ``Limits/gatherNanosecondsMax`` in one transaction. It looks at the queue
    /// again and again, because being woken would take longer than most callers need.
    ///
    /// - Parameter room: what the transaction can still take.
    package func joining(
        in room: TransactionRoom, _ returning: inout ReturningCallers
    ) -> [Request] {
        while returning.missing > 0, !room.isFull {
            let (requests, admitted, isOver) = monitor.withLock {
                state -> ([Request], [Admitted], Bool) in
                let (requests, admitted) = take(&state, room)
                return (requests, admitted, state.isClosed || !state.queued.isEmpty)
            }
            for continuation in admitted { continuation.resume(returning: .success(())) }
            let now = clock()
            returning.joined(requests.callerCount, at: now)
            if !requests.isEmpty { return requests }
            guard !isOver, returning.isWorthWaiting(at: now) else { break }
            Platform.yieldThread()
        }
        return []
    }

    /// The next step of a caller in a store without a writer thread.
    package enum Turn: Sendable {
        /// The caller carries out these requests, and then asks again.
        case requests([Request])
        /// Another thread carries out requests, and will see all queued requests.
        case busy
        /// Nothing is queued. If the queue is closed, nothing will be.
        case idle(isClosed: Bool)
    }

    /// Returns the requests of the next transaction without blocking, for a store without a writer
    /// thread.
    ///
    /// - Parameter isContinuing: whether the caller carried out the requests of the turn before.
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

    /// Removes the first requests, as many as fit into the transaction, and admits waiting callers
    /// in their place.
    private func take(
        _ state: inout State, _ room: TransactionRoom = TransactionRoom()
    ) -> ([Request], [Admitted]) {
        var admitted: [Admitted] = []
        admit(&state, &admitted)
        var room = room
        var count = 0
        for request in state.queued {
            guard room.fits(request) else { break }
            room.add(request)
            count += 1
            state.queuedWeight -= request.weight
            state.queuedBytes -= request.bytes
        }
        var taken = state.queued
        if count == taken.count {
            state.queued = []
        } else {
            taken.removeSubrange(count...)
            state.queued.removeSubrange(..<count)
        }
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

/// What a transaction can still take: commands, and bytes of their events (L3).
package struct TransactionRoom: Sendable {
    private var isEmpty = true
    private var count = Limits.commitCountMax
    private var bytes = Limits.commitBytesMax

    package init() {}

    /// Whether no further request fits.
    package var isFull: Bool { count <= 0 || bytes <= 0 }

    /// Returns whether the transaction can take the request. The first request always fits.
    package func fits(_ request: Request) -> Bool {
        isEmpty || count >= request.weight && bytes >= request.bytes
    }

    /// Adds a request to the transaction.
    package mutating func add(_ request: Request) {
        isEmpty = false
        count -= request.weight
        bytes -= request.bytes
    }
}

extension [Request] {
    /// The number of requests whose callers wait from the start.
    package var callerCount: Int { reduce(0) { $0 + ($1.hasCaller ? 1 : 0) } }
}
