#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A value behind a lock that threads can wait on until it has changed.
///
/// `Synchronization.Mutex` has no condition variable; this is the mutex and condition of pthreads
/// with the value they guard. `wait` may only be called on threads that may block: the log's own
/// writer thread, never Swift's cooperative pool, except where a doc comment says why.
///
/// `@unchecked Sendable`: `value` is touched only in `withLock`, which holds `mutex`; the two
/// pointers are set once in `init` and freed in `deinit`, when nobody else holds the object.
package final class Monitor<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if os(Linux)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func withLock<R, E: Error>(
        _ body: (inout Value, borrowing Waiting) throws(E) -> R
    ) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value, Waiting(mutex: mutex, condition: condition))
    }

    /// What can be done with the condition while the lock is held.
    package struct Waiting: ~Copyable {
        fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>
        fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>

        /// Releases the lock until somebody calls `wakeAll`; may return early, so test again.
        package func wait() { pthread_cond_wait(condition, mutex) }

        /// The same for at most so long; false when the time is over.
        package func wait(nanoseconds: UInt64) -> Bool {
            #if os(Linux)
                let end = Platform.monotonicNanoseconds() + nanoseconds
                var until = timespec(
                    tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
                return pthread_cond_timedwait(condition, mutex, &until) == 0
            #else
                var span = timespec(
                    tv_sec: Int(nanoseconds / 1_000_000_000),
                    tv_nsec: Int(nanoseconds % 1_000_000_000))
                return pthread_cond_timedwait_relative_np(condition, mutex, &span) == 0
            #endif
        }

        package func wakeAll() { pthread_cond_broadcast(condition) }
    }
}
