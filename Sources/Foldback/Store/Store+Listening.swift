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
}

/// Keeps a listener until it is released.
package final class Listening: Sendable {
    private let stop: @Sendable () -> Void

    package init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    deinit { stop() }
}
