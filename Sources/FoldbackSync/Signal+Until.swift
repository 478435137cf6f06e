import Foldback

extension Signal {
    /// Waits as `wait(after:)` does, and at most until the time `until`. Returns true if that time has
    /// come.
    func wait(after seen: Int, until: Timestamp?, _ sources: SyncSources) async -> Bool {
        guard let until else {
            await wait(after: seen)
            return false
        }
        let duration = until.duration(since: sources.now())
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await sources.sleep(duration)
                return true
            }
            group.addTask {
                await self.wait(after: seen)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
