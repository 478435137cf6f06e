import Foundation

/// Returns the least processor time of several runs in microseconds, of this thread. Other threads
/// and processes use the machine too, so wall-clock time would say little.
package func leastThreadTime(
    runs: Int = 3, _ body: () throws -> Void
) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<runs {
        let start = threadTime
        try body()
        least = min(least, threadTime - start)
    }
    return least
}

/// The processor time of this thread in microseconds.
private var threadTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1_000_000 + Double(time.tv_nsec) / 1_000
}
