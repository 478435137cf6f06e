#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A gate that ensures that no read of this process is active while the map is moved or closed (L7,
/// L8).
///
/// LMDB unmaps the file when the map grows, and does not check for active readers (lmdb.h,
/// mdb_env_set_mapsize). So every read passes through this gate:
///
/// 1. A reader enters at once, unless the map is being moved. Then it waits until the move has
///    ended.
/// 2. A nested read of a thread that is already inside never waits. Else it would wait for itself.
/// 3. Growing lets no new reader in, waits until the readers inside have left, moves the map, and
///    lets readers in again.
///
/// Reads are short because records are copied out in bounded pieces. So the waits are short too.
package final class MapGate: Sendable {
    private struct Reader {
        var depth: Int
        let since: UInt64
    }

    private struct State {
        var readers: [UInt: Reader] = [:]
        var isMoving = false
        var isClosed = false
    }

    private let monitor = Monitor(State())

    package init() {}

    /// Enters as a reader of the calling thread. Blocks while the map is being moved.
    /// - Throws: `.closed`.
    package func enter() throws(LMDBError) {
        let me = Self.thread
        _ = try monitor.wait { (state) throws(LMDBError) -> Void? in
            if let inside = state.readers[me] {
                state.readers[me] = Reader(depth: inside.depth + 1, since: inside.since)
                return ()
            }
            guard !state.isMoving else { return nil }
            guard !state.isClosed else { throw LMDBError(.beginRead, .closed) }
            state.readers[me] = Reader(depth: 1, since: Platform.monotonicNanoseconds())
            return ()
        }
    }

    /// Leaves as a reader of the calling thread. Traps if the thread is not inside.
    package func leave() {
        let me = Self.thread
        let isAwaited = monitor.withLock { state in
            guard var reader = state.readers[me] else {
                preconditionFailure("a thread left the gate without entering it")
            }
            reader.depth -= 1
            state.readers[me] = reader.depth == 0 ? nil : reader
            return state.readers.isEmpty && state.isMoving
        }
        if isAwaited { monitor.wakeAll() }
    }

    /// Checks that the calling thread is not inside a read.
    ///
    /// A write inside a read could need a larger map, and would wait forever for that read to end.
    /// - Throws: `.writeInsideRead`.
    package func requireOutside(for operation: LMDBError.Operation) throws(LMDBError) {
        let me = Self.thread
        let isInside = monitor.withLock { $0.readers[me] != nil }
        guard !isInside else { throw LMDBError(operation, .writeInsideRead) }
    }

    /// Runs `body` while no read is active. Blocks until all readers have left.
    ///
    /// - Parameters:
    ///   - closing: whether to refuse all later readers.
    ///   - secondsMax: the longest wait for readers, in seconds; nil waits without limit.
    /// - Throws: `.writeInsideRead`, `.readerBlocksGrowth`, `.closed`, or what `body` throws.
    package func exclusively(
        closing: Bool = false, secondsMax: Int?, _ body: () throws(LMDBError) -> Void
    ) throws(LMDBError) {
        try requireOutside(for: .growMap)
        _ = try monitor.wait { (state) throws(LMDBError) -> Void? in
            guard !state.isMoving else { return nil }
            guard !state.isClosed else { throw LMDBError(.growMap, .closed) }
            state.isMoving = true
            return ()
        }
        defer {
            monitor.withLock { state in
                state.isMoving = false
                if closing { state.isClosed = true }
            }
            monitor.wakeAll()
        }
        let nanosecondsMax = secondsMax.map { UInt64($0) * 1_000_000_000 }
        let isAlone: Void? = monitor.wait(nanosecondsMax: nanosecondsMax) { state in
            state.readers.isEmpty ? () : nil
        }
        guard isAlone != nil else {
            throw LMDBError(.growMap, .readerBlocksGrowth(seconds: secondsMax ?? 0))
        }
        try body()
    }

    /// The age of this process's oldest active read, in nanoseconds; 0 if there is none (L8).
    package var oldestReadNanoseconds: UInt64 {
        monitor.withLock { state in
            guard let since = state.readers.values.map(\.since).min() else { return 0 }
            return Platform.monotonicNanoseconds() - since
        }
    }

    /// The id of the calling thread.
    static var thread: UInt {
        #if os(Linux)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
