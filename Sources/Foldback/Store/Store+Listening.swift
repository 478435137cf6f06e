extension Store {
    /// Calls `listener` with false after each publication of a commit, and with true once the store
    /// is closed, until the returned value is released.
    ///
    /// The listener runs on the writer's thread before the callers of the commit's commands resume,
    /// so it must be short (F15). If the store is closed already, it is called at once.
    package func listen(
        _ listener: @escaping @Sendable (_ isClosed: Bool) -> Void
    ) -> Listening {
        let listeners = core.writer.listeners
        guard let place = listeners.views({ listener($0 == nil) }) else {
            listener(true)
            return Listening {}
        }
        return Listening { listeners.stopViews(place) }
    }

    /// Calls `listener` after each commit that changes only attempts to send pending intents, and when
    /// the store is latched, until the returned value is released or the store is closed. A commit
    /// with entries calls only the listeners of ``listen(_:)``.
    ///
    /// It runs on the writer's thread before the callers of the commit's commands resume, so it
    /// must be short.
    package func listenBeside(_ listener: @escaping @Sendable () -> Void) -> Listening {
        let listeners = core.writer.listeners
        let place = listeners.beside(listener)
        return Listening { if let place { listeners.stopBeside(place) } }
    }
}

/// Keeps a listener until it is released.
package final class Listening: Sendable {
    private let stop: @Sendable () -> Void

    package init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    deinit { stop() }
}
