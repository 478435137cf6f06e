/// The way to the writer: queues requests, and sees to it that they are carried out.
///
/// On disk a thread of the log's own writes (L3); in memory whoever comes first does.
package final class CommandRunner: Sendable {
    package let storage: any LogStorage
    package let writer: LogWriter
    private let queue: RequestQueue
    private let end = CloseSignal()
    private let hasThread: Bool

    package init(_ storage: any LogStorage, _ writer: LogWriter, hasThread: Bool) {
        self.storage = storage
        self.writer = writer
        self.hasThread = hasThread
        queue = RequestQueue(path: storage.path)
    }

    /// Carries out requests until the queue is closed and empty, then lets go of the log. Blocks.
    func run() {
        while let requests = queue.next() { writer.commit(requests) }
        finish()
    }

    /// Queues the work, waiting where the queue is full. Order of queueing is order in the log.
    ///
    /// Runs on the caller's actor up to its first wait: two tasks of one actor queue in the order in
    /// which they start.
    package nonisolated(nonsending) func submit(
        _ work: Request.Work, bytes: Int
    ) async throws(FoldbackError) -> Request {
        try storage.requireUsable()
        guard !Task.isCancelled else { throw .cancelled }
        let request = Request(work, bytes: bytes)
        switch queue.offer(request) {
        case .queued: break
        case .closed: throw .closed(path: storage.path)
        case .full: try await wait(toQueue: request)
        }
        if !hasThread { drain() }
        return request
    }

    /// The same for many, in their order: they go into one transaction where there is room.
    ///
    /// - Returns: those that were queued, and why the rest was not.
    package nonisolated(nonsending) func submit(
        contentsOf works: [(work: Request.Work, bytes: Int)]
    ) async -> (queued: [Request], failure: FoldbackError?) {
        let requests = works.map { Request($0.work, bytes: $0.bytes) }
        var count = 0
        do throws(FoldbackError) {
            while count < requests.count {
                try storage.requireUsable()
                guard !Task.isCancelled else { throw .cancelled }
                guard let some = queue.offer(contentsOf: Array(requests[count...])) else {
                    throw .closed(path: storage.path)
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

    private nonisolated(nonsending) func wait(
        toQueue request: Request
    ) async throws(FoldbackError) {
        let queue = queue
        let admission = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                queue.wait(for: request, continuation)
                // Whoever was writing may have gone before this one waited.
                if !hasThread { drain() }
                // Cancelled before it waited: nobody else would take it back.
                if Task.isCancelled { queue.cancel(request) }
            }
        } onCancel: {
            queue.cancel(request)
        }
        try admission.get()
    }

    /// Writes what is queued unless somebody does, and lets go of the log behind the last of a closed
    /// queue.
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
        writer.listeners.close()
        end.reach()
    }

    // MARK: The end

    /// Turns away what comes from now on; what is queued is carried out.
    func shut() {
        queue.close()
        if !hasThread { drain() }
    }

    /// The same, and waits until the log is let go of. In the child of a fork it does nothing: the log is
    /// the parent's, and its thread is not there.
    func close() async {
        do throws(FoldbackError) { try storage.requireUsable() } catch {
            if case .usedAfterFork = error { return }
        }
        shut()
        await end.wait()
    }
}
