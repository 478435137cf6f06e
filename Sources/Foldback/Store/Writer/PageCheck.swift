import FoldbackLMDB

/// The check of a file's pages after opening, for which readers can wait.
///
/// The writer's thread checks before its first write. A store without a thread leaves the check to
/// its first write.
final class PageCheck: Sendable {
    private enum State {
        case unneeded
        case upcoming
        case done(StorageFailure?)
    }

    private let state = Monitor(State.unneeded)

    /// Makes readers wait for ``finish(_:)``.
    func announce() { state.withLock { $0 = .upcoming } }

    /// Ends the wait of the readers, and of all later ones.
    ///
    /// - Parameter failure: what the check found, or why it could not check; nil if the pages are
    ///   sound.
    func finish(_ failure: StorageFailure?) {
        state.withLock { $0 = .done(failure) }
        state.wakeAll()
    }

    /// Waits until an announced check is over. Blocks.
    ///
    /// - Throws: `.damaged` if the check found damage; `.storage` if it could not read the file.
    func requireSoundPages() throws(FoldbackError) {
        let state = state.wait { state -> State? in
            if case .upcoming = state { return nil }
            return state
        }
        if case .done(let failure?)? = state { throw failure.unwritten }
    }
}
