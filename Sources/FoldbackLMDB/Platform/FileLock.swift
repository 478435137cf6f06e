#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A lock on an open file or directory that excludes other processes: flock(2).
///
/// The parent of a fork unlocks explicitly, because closing alone keeps the lock while the child
/// has the descriptor. The child must not unlock: the lock is the parent's.
final class FileLock: Sendable {
    let descriptor: Int32
    private let generation = ForkCount.generation

    /// - Parameter descriptor: an open descriptor, which this object closes.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        giveBack()
        close(descriptor)
    }

    /// Takes the lock alone and returns true; returns false if another holder has it.
    func takeAlone() throws(LMDBError) -> Bool { try take(LOCK_EX) }

    /// Takes a share and returns true; returns false if another holder has the lock alone.
    func share() throws(LMDBError) -> Bool { try take(LOCK_SH) }

    /// Gives back the lock or the share, if this process has it.
    func giveBack() {
        if generation == ForkCount.generation { flock(descriptor, LOCK_UN) }
    }

    /// Never waits.
    private func take(_ mode: Int32) throws(LMDBError) -> Bool {
        while flock(descriptor, mode | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw LMDBError(.lockDirectory, .system(errno: errno)) }
        }
        return true
    }
}
