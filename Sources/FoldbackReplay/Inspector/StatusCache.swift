#if ReplayTool
    import Foldback
    import FoldbackHistory
    import Synchronization

    /// The status of a log, which needs a fold of the entries after the newest checkpoint.
    ///
    /// A log from `import` has no checkpoint, so this fold may take seconds. The page gets what is
    /// known without it until then.
    final class StatusCache: Sendable {
        private let log: InspectedLog
        private let workers: Workers
        private let content = Mutex(Content())

        private struct Content {
            var known: (sequence: LogSequence, status: JSON.Object)?
            var isRunning = false
        }

        init(_ log: InspectedLog, _ workers: Workers) {
            self.log = log
            self.workers = workers
        }

        /// Returns the status, or a part of it if the rest takes too long.
        func status() async throws -> JSON.Object {
            let clock = ContinuousClock()
            let end = clock.now + InspectorLimits.statusWaitMax
            let last = try log.reader.lastSequence()
            while true {
                let (known, isStarting) = content.withLock { content in
                    let isKnown = content.known.map { $0.sequence >= last } ?? false
                    guard !isKnown else { return (content.known?.status, false) }
                    defer { content.isRunning = true }
                    return (nil, !content.isRunning)
                }
                if let known { return known }
                if isStarting { workers.start { self.compute() } }
                guard clock.now < end else { return try partOfStatus() }
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Returns the last known status with the present number of entries, or only what needs no
        /// entry. A log may grow faster than it is folded.
        private func partOfStatus() throws -> JSON.Object {
            var status = content.withLock { $0.known?.status } ?? JSON.Object()
            for (name, value) in try log.statusWithoutEntries().members { status[name] = value }
            return status
        }

        private func compute() {
            let status: JSON.Object?
            var sequence: LogSequence = 0
            do {
                let found = try log.reader.status()
                (sequence, status) = (found.sequence, found.json)
            } catch {
                log.note(error)
                status = try? log.statusWithoutEntries()
                sequence = (try? log.reader.lastSequence()) ?? 0
            }
            content.withLock { content in
                content.isRunning = false
                if let status { content.known = (sequence, status) }
            }
        }
    }
#endif
