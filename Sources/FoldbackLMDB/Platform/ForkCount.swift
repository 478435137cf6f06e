import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The number of forks between the process that first read ``generation`` and this process.
///
/// An object saves the number when it opens a resource. If the number is different later, the
/// object is in a forked child, and the resource belongs to the parent (L8). Comparing process ids
/// instead would cost a system call for each command.
enum ForkCount {
    private static let count = Atomic<Int>(0)

    private static let isWatching: Void = {
        let code = pthread_atfork(nil, nil, { ForkCount.count.add(1, ordering: .relaxed) })
        precondition(
            code == 0, "pthread_atfork failed: \(Platform.message(errno: code))")
    }()

    static var generation: Int {
        _ = isWatching
        return count.load(ordering: .relaxed)
    }
}
