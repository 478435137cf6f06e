#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A value protected by a lock, with a condition variable that threads can wait on.
///
/// `Synchronization.Mutex` has no condition variable. This type combines a pthread mutex, a pthread
/// condition, and the value that they protect. Only threads that may block wait on it: the log's
/// writer thread, and readers while the map is being moved.
///
/// What each command calls is `@inlinable`, because it is generic, and its callers are in another
/// module.
///
/// `@unchecked Sendable`: `value` is accessed only while `mutex` is held. The two pointers are set
/// once in `init` and freed in `deinit`, when no other thread has a reference.
package final class Monitor<Value>: @unchecked Sendable {
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    @usableFromInline var value: Value

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

    /// Calls `body` with exclusive access to the value.
    @inlinable
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Wakes all threads that wait in ``wait(nanosecondsMax:for:)``. Call it after a change.
    @inlinable
    package func wakeAll() { pthread_cond_broadcast(condition) }

    /// Calls `attempt` under the lock, and again after each ``wakeAll()``, until it returns a
    /// result.
    ///
    /// The wait happens between attempts, never inside one. During an attempt, the compiler may
    /// assume exclusive access to the value.
    /// - Parameter nanosecondsMax: the longest wait; nil waits without limit.
    /// - Returns: the result, or nil after `nanosecondsMax`.
    package func wait<R, E: Error>(
        nanosecondsMax: UInt64? = nil, for attempt: (inout Value) throws(E) -> R?
    ) throws(E) -> R? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let end = nanosecondsMax.map { Platform.monotonicNanoseconds() + $0 }
        while true {
            if let result = try attempt(&value) { return result }
            guard let end else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            let now = Platform.monotonicNanoseconds()
            guard now < end else { return nil }
            wait(nanoseconds: end - now)
        }
    }

    private func wait(nanoseconds: UInt64) {
        #if os(Linux)
            let end = Platform.monotonicNanoseconds() + nanoseconds
            var until = timespec(
                tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
            pthread_cond_timedwait(condition, mutex, &until)
        #else
            var span = timespec(
                tv_sec: Int(nanoseconds / 1_000_000_000),
                tv_nsec: Int(nanoseconds % 1_000_000_000))
            pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #endif
    }
}
