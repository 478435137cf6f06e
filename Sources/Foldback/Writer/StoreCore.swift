import FoldbackLMDB
import Synchronization

/// A store without the types of its projections: the queue, the writer behind it, and the storage.
package final class StoreCore: Sendable {
    package let storage: any LogStorage
    package let codec: any PayloadCodec
    package let writer: LogWriter
    private let queue: RequestQueue
    private let end: StoreEnd
    /// On disk a thread of the store's own writes; in memory whoever asks does.
    private let hasThread: Bool

    private init(
        _ storage: any LogStorage, _ codec: any PayloadCodec, _ writer: LogWriter,
        _ queue: RequestQueue, _ end: StoreEnd, hasThread: Bool
    ) {
        self.storage = storage
        self.codec = codec
        self.writer = writer
        self.queue = queue
        self.end = end
        self.hasThread = hasThread
    }

    /// A store that is dropped without being closed finishes what is queued, then closes.
    deinit {
        queue.close()
        if !hasThread { Self.finish(storage, writer, end) }
    }

    // MARK: Opening

    /// Opens on a thread of its own, which stays the writer (L3). Folds the whole log.
    package static func open(
        codec: any PayloadCodec, folds: [any AnyFold],
        clock: @escaping @Sendable () -> Timestamp,
        _ openStorage: @escaping @Sendable () throws(FoldbackError) -> any LogStorage
    ) async throws(FoldbackError) -> StoreCore {
        let opened = await withUnsafeContinuation {
            (opened: UnsafeContinuation<Result<StoreCore, FoldbackError>, Never>) in
            Platform.startThread {
                do throws(FoldbackError) {
                    let storage = try openStorage()
                    let writer = try folded(storage, codec, folds, clock)
                    let queue = RequestQueue(path: storage.path)
                    let end = StoreEnd()
                    opened.resume(
                        returning: .success(
                            StoreCore(storage, codec, writer, queue, end, hasThread: true)))
                    while let requests = queue.next() { writer.commit(requests) }
                    finish(storage, writer, end)
                } catch {
                    opened.resume(returning: .failure(error))
                }
            }
        }
        return try opened.get()
    }

    package static func inMemory(
        codec: any PayloadCodec, folds: [any AnyFold],
        clock: @escaping @Sendable () -> Timestamp, kind: LogKind, replica: ReplicaID
    ) -> StoreCore {
        let storage = MemoryLog(kind: kind, replica: replica)
        let fold = LogFold(of: storage, folds: folds)
        let writer = LogWriter(fold, on: storage, codec: codec, clock: clock)
        return StoreCore(
            storage, codec, writer, RequestQueue(path: storage.path), StoreEnd(), hasThread: false)
    }

    private static func folded(
        _ storage: any LogStorage, _ codec: any PayloadCodec, _ folds: [any AnyFold],
        _ clock: @escaping @Sendable () -> Timestamp
    ) throws(FoldbackError) -> LogWriter {
        do throws(FoldbackError) {
            var fold = LogFold(of: storage, folds: folds)
            try fold.replay(storage, codec: codec)
            return LogWriter(fold, on: storage, codec: codec, clock: clock)
        } catch {
            storage.close()
            throw error
        }
    }

    private static func finish(
        _ storage: any LogStorage, _ writer: LogWriter, _ end: StoreEnd
    ) {
        storage.close()
        writer.listeners.close()
        end.reach()
    }

    // MARK: Commands

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
                Self.finish(storage, writer, end)
                return
            }
            isContinuing = true
        }
    }

    /// Carries out what is queued, turns everything else away, and closes. Again: waits for the first.
    /// In the child of a fork it does nothing: the log is the parent's, and its thread is not there.
    package func close() async {
        do throws(FoldbackError) { try storage.requireUsable() } catch {
            if case .usedAfterFork = error { return }
        }
        queue.close()
        if !hasThread { drain() }
        await end.wait()
    }
}

/// The moment when a store has let go of its log.
final class StoreEnd: Sendable {
    private let waiting = Mutex<[UnsafeContinuation<Void, Never>]?>([])

    func reach() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withUnsafeContinuation { continuation in
            let isOver = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOver { continuation.resume() }
        }
    }
}
