extension Store {
    /// Calls `listener` with false after each change of the published state, and with true once the
    /// store is closed, until the returned value is released.
    ///
    /// The listener runs on the writer's thread before the callers of the commit's commands resume
    /// (F15), or on the thread of a caller that changes a fact without a commit. It must be short, and
    /// may be called by two threads at once. If the store is closed already, it is called at once.
    package func listen(
        _ listener: @escaping @Sendable (_ isClosed: Bool) -> Void
    ) -> Listening {
        let publication = core.publication
        let listening = publication.changes.listen { listener(publication.read(\.isClosed)) }
        if publication.read(\.isClosed) { listener(true) }
        return listening
    }
}
