import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// How many forks lie between this process and the one that first asked: whoever remembers another
/// number is in a child, and what it holds is its parent's (L8).
///
/// Asking for the process id instead would be a call to the system for each command.
enum ForkCount {
    private static let count = Atomic<Int>(0)

    private static let isWatching: Void = {
        let code = pthread_atfork(nil, nil, { ForkCount.count.add(1, ordering: .relaxed) })
        precondition(
            code == 0, "the system does not tell of forks: \(Platform.message(errno: code))")
    }()

    static var generation: Int {
        _ = isWatching
        return count.load(ordering: .relaxed)
    }
}
