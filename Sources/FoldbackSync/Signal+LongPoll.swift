import Foldback

extension Signal {
    /// Answers a long poll: with the first page that has an event or says that there are more, or with
    /// the last page once the time is up.
    ///
    /// - Parameters:
    ///   - device: what the device knows.
    ///   - waiting: the longest wait.
    ///   - page: returns the page after what the device knows. It is asked again after each ring.
    /// - Throws: the errors of `page`; `.unreachable` if the task is canceled.
    package func longPoll<Event>(
        after device: SyncPoint, waiting: Duration, _ sources: SyncSources,
        page: (SyncPoint) async throws(AuthorityFailure) -> Changes<Event>
    ) async throws(AuthorityFailure) -> Changes<Event> {
        let end = sources.now().advanced(by: waiting)
        var known = device
        while true {
            let seen = count
            let changes = try await page(known)
            guard changes.events.isEmpty, !changes.hasMore else { return changes }
            // What was passed over is not read again.
            known = SyncPoint(
                lineage: device.lineage, through: changes.through, digest: changes.digest)
            let isOver = await wait(after: seen, until: end, sources)
            if Task.isCancelled { throw .unreachable(reason: "the task was canceled") }
            if isOver { return changes }
        }
    }
}
