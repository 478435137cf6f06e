import Synchronization

/// Queues requests, and lets the writer carry them out.
///
/// On disk, a dedicated thread calls the writer (L3). In memory, the thread of a caller does.
package final class CommandRunner: Sendable {
    package let storage: any LogStorage
    package let writer: LogWriter
    private let queue: RequestQueue
    private let end = Signal()
    private let hasEnded = Atomic(false)
    private let hasThread: Bool
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - hasThread: whether a thread will call ``run()``.
    ///   - clock: returns nanoseconds, and never goes back.
    package init(
        _ storage: any LogStorage, _ writer: LogWriter, hasThread: Bool,
        clock: @escaping @Sendable () -> UInt64
    ) {
        self.storage = storage
        self.writer = writer
        self.hasThread = hasThread
        self.clock = clock
        queue = RequestQueue(path: storage.path, clock: clock)
        if hasThread { writer.pageCheck.announce() }
    }

    /// Checks the file's pages, carries out requests until the queue is closed and empty, and then
    /// closes the log. Blocks.
    package func run() {
        writer.checkPages()
        var returning = ReturningCallers()
        while let requests = queue.next() {
            returning.begin(with: requests.callerCount, at: clock())
            let resumed = writer.commit(requests) { room in
                return queue.joining(in: room, &returning)  // mutant: nobody-joins
            }
            returning.expect(resumed, at: clock())
        }
        finish()
    }

    /// Queues the work, and waits for room if the queue is full. The order of queueing is the order
    /// in the log.
    ///
    /// Runs on the caller's actor up to its first suspension. So two tasks of one actor queue in
    /// the order in which they start.
    ///
    /// - Throws: `.log` with `.cancelled`, `.closed` or `.usedAfterFork`, and nothing was queued.
    package nonisolated(nonsending) func submit(
        _ work: Request.Work, bytes: Int
    ) async throws(CommandError) -> Request {
        try requireUsable()
        guard !Task.isCancelled else { throw .log(.cancelled) }
        let request = Request(work, bytes: bytes)
        switch queue.offer(request) {
        case .queued: break
        case .closed: throw closed
        case .full: try await wait(toQueue: request)
        }
        if !hasThread { drain() }
        return request
    }

    /// Queues the work, and returns its true outcome. The same as ``submit(_:bytes:)`` and
    /// ``Request/outcome()``, with one suspension for both.
    ///
    /// The caller's continuation goes into the queue with the request, so nothing has to find the
    /// caller later. If the queue is full, the caller waits for room as in ``submit(_:bytes:)``.
    ///
    /// - Throws: as ``submit(_:bytes:)``, and the errors of the work.
    package nonisolated(nonsending) func outcome(
        of work: Request.Work, bytes: Int
    ) async throws(CommandError) -> RequestResult {
        guard hasThread else { return try await submit(work, bytes: bytes).outcome() }
        try requireUsable()
        guard !Task.isCancelled else { throw .log(.cancelled) }  // mutant: canceled-caller
        let (queue, closed) = (queue, closed)
        let result = await withUnsafeContinuation { (caller: Request.Caller) in
            switch queue.offer(Request(work, bytes: bytes, caller: caller)) {
            case .queued: break
            case .closed: caller.resume(returning: .failure(closed))
            case .full: caller.resume(returning: nil)
            }
        }
        guard let result else { return try await submit(work, bytes: bytes).outcome() }
        return try result.get()
    }

    /// Queues several pieces of work in their order. They go into one transaction if there is room.
    ///
    /// - Returns: the queued requests, and the error that kept the others out of the queue.
    package nonisolated(nonsending) func submit(
        contentsOf works: [(work: Request.Work, bytes: Int)]
    ) async -> (queued: [Request], failure: CommandError?) {
        let requests = works.map { Request($0.work, bytes: $0.bytes) }
        var count = 0
        do throws(CommandError) {
            while count < requests.count {
                try requireUsable()
                guard !Task.isCancelled else { throw .log(.cancelled) }
                guard let some = queue.offer(contentsOf: Array(requests[count...])) else {
                    throw closed
                }
                count += some
                if count < requests.count {
                    try await wait(toQueue: requests[count])
                    count += 1
                }
                if !hasThread { drain() }
            }
            return (requests, nil)
        } catch {
            return (Array(requests[..<count]), error)
        }
    }

    /// Carries out work that refuses nothing: a flush, attempts to send, a piece of a checkpoint, or a
    /// finding about the authority. Only the log can fail at it.
    ///
    /// - Throws: as ``submit(_:bytes:)``, with the log's own error; `.latched`, `.damaged`, `.storage`,
    ///   `.outcomeUnknown`.
    package nonisolated(nonsending) func result(
        ofOwn work: Request.Work, bytes: Int
    ) async throws(LogError) -> RequestResult {
        do throws(CommandError) { return try await submit(work, bytes: bytes).outcome() } catch {
            guard case .log(let error) = error else {
                preconditionFailure("the log has refused \(work): \(error)")
            }
            throw error
        }
    }

    private var closed: CommandError { .log(.closed(path: storage.path)) }

    private func requireUsable() throws(CommandError) {
        try CommandError.converting { () throws(LogError) in try storage.requireUsable() }
    }

    private nonisolated(nonsending) func wait(
        toQueue request: Request
    ) async throws(CommandError) {
        let queue = queue
        let admission = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                queue.wait(for: request, continuation)
                // The thread that carried out requests may have left before this request waited.
                if !hasThread { drain() }
                // If the task was canceled before this request waited, `onCancel` did not remove
                // it.
                if Task.isCancelled { queue.cancel(request) }
            }
        } onCancel: {
            queue.cancel(request)
        }
        try admission.get()
    }

    /// Carries out the queued requests, unless another thread does. Closes the log after the last
    /// request of a closed queue.
    private func drain() {
        var isContinuing = false
        while true {
            switch queue.turn(isContinuing: isContinuing) {
            case .requests(let requests): writer.commit(requests)
            case .busy, .idle(isClosed: false): return
            case .idle(isClosed: true):
                finish()
                return
            }
            isContinuing = true
        }
    }

    private func finish() {
        storage.close()
        writer.publication.close()
        hasEnded.store(true, ordering: .releasing)
        end.ring()
    }

    // MARK: The end

    /// Refuses new requests from now on. Queued requests are carried out.
    func shut() {
        queue.close()
        if !hasThread { drain() }
    }

    /// Refuses new requests, and waits until the log is closed.
    ///
    /// Does nothing in the child of a fork: the log belongs to the parent, and its thread does not
    /// exist in the child (L8).
    package func close() async {
        do throws(LogError) { try storage.requireUsable() } catch {
            if case .usedAfterFork = error { return }
        }
        shut()
        await end.wait(ignoringCancellation: true) { [self] in
            hasEnded.load(ordering: .acquiring)
        }
    }
}
