import Synchronization

/// A clock that only a test advances. It counts its readings.
package final class ManualNanoseconds: Sendable {
    private struct State {
        var now: UInt64 = 1_000_000
        var readings = 0
        var onReading: (@Sendable (Int) -> UInt64)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Calls `body` before each reading, with the reading's number from 1 up.
    ///
    /// - Parameter body: returns the nanoseconds by which the clock advances.
    package func onReading(_ body: @escaping @Sendable (Int) -> UInt64) {
        state.withLock { $0.onReading = body }
    }

    package var readings: Int { state.withLock { $0.readings } }

    package func advance(by nanoseconds: UInt64) { state.withLock { $0.now += nanoseconds } }

    @Sendable package func read() -> UInt64 {
        let (reading, onReading) = state.withLock { state in
            state.readings += 1
            return (state.readings, state.onReading)
        }
        let step = onReading?(reading) ?? 0
        return state.withLock { state in
            state.now += step
            return state.now
        }
    }

    /// Waits until the clock was read at least this often.
    package func waitUntilRead(_ count: Int) async {
        while readings < count { await Task.yield() }
    }
}
