#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Proves that no read transaction is active in this process while the map is moved or closed (L7, L8).
///
/// LMDB unmaps the file when the map grows and does not look whether somebody reads it (lmdb.h,
/// mdb_env_set_mapsize). So every read passes through here, and growing waits until all have left:
///
/// 1. a reader enters, unless the map is being moved: then it waits for that to end;
/// 2. a nested read of a thread that is inside already never waits, or it would wait for itself;
/// 3. growing closes the door, waits until the readers inside have left, moves the map, opens it.
///
/// Reads are short (records are copied out in bounded pieces), so the waits are short as well.
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

    /// Enters as a reader of the calling thread.
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

    package func leave() {
        let me = Self.thread
        let isAwaited = monitor.withLock { state in
            guard var reader = state.readers[me] else {
                preconditionFailure("a reader left the gate that never entered it")
            }
            reader.depth -= 1
            state.readers[me] = reader.depth == 0 ? nil : reader
            return state.readers.isEmpty && state.isMoving
        }
        if isAwaited { monitor.wakeAll() }
    }

    /// - Throws: `.writeInsideRead` if the calling thread is inside a read: a write could need a
    ///   larger map, and would wait for that read for ever.
    package func requireOutside(for operation: LMDBError.Operation) throws(LMDBError) {
        let me = Self.thread
        let isInside = monitor.withLock { $0.readers[me] != nil }
        guard !isInside else { throw LMDBError(operation, .writeInsideRead) }
    }

    /// Runs `body` while nobody reads. With `closing`, nobody can enter afterwards.
    ///
    /// - Parameter secondsMax: how long to wait for the readers inside; nil waits for ever.
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

    /// How long the oldest read of this process has been going on, in nanoseconds; 0 with none (L8).
    package var oldestReadNanoseconds: UInt64 {
        monitor.withLock { state in
            guard let since = state.readers.values.map(\.since).min() else { return 0 }
            return Platform.monotonicNanoseconds() - since
        }
    }

    /// The calling one.
    static var thread: UInt {
        #if os(Linux)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
