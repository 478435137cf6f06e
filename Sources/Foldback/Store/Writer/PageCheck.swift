import FoldbackLMDB

/// The check of a file's pages after opening, for which readers can wait.
///
/// The writer's thread checks before its first transaction. A store without a thread has checked on
/// opening.
///
/// ```
/// unneeded
/// upcoming ──▶ sound | damaged
///     └──────▶ unable ──▶ sound | damaged | unable     before the next transaction
/// ```
final class PageCheck: Sendable {
    private enum State {
        case unneeded
        case upcoming
        case sound
        /// The check found damage, or that the file is lost. The store is latched.
        case damaged(StorageFailure)
        /// The check could not read the file this time.
        case unable(StorageFailure)
    }

    private let state = Monitor(State.unneeded)

    /// Makes readers wait for ``finish(_:)``.
    func announce() { state.withLock { $0 = .upcoming } }

    /// Whether the check could not read the file, and must be tried again.
    var isUnable: Bool {
        state.withLock {
            if case .unable = $0 { return true }
            return false
        }
    }

    /// Ends the wait of the readers.
    ///
    /// - Parameter failure: what the check found, or why it could not check; nil if the pages are
    ///   sound.
    func finish(_ failure: StorageFailure?) {
        state.withLock {
            $0 = failure.map { $0.endsWriting ? .damaged($0) : .unable($0) } ?? .sound
        }
        state.wakeAll()
    }

    /// Waits until an announced check is over. Blocks.
    ///
    /// - Throws: `.damaged` if the check found damage; `.storage` if it could not read the file.
    func requireSoundPages() throws(LogError) {
        let state = state.wait { state -> State? in
            if case .upcoming = state { return nil }
            return state
        }
        switch state {
        case .damaged(let failure), .unable(let failure): throw failure.unwritten
        case .unneeded, .upcoming, .sound, nil: break
        }
    }
}
