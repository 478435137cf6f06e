#if ReplayTool
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns what the page shows first. This reads the newest checkpoint and the entries after
        /// it, and does not fold the log.
        func head() async throws -> JSON {
            let status = try await statuses.status()
            return try await short.run { .object(try self.headObject(status)) }
        }

        /// Waits until the log has entries after the one that the page knows, or until another
        /// process writes it than the page knows, or none. Returns the head then, and in any case
        /// after 20 seconds. A page that does not know the counts gets them as soon as the fold has
        /// them.
        func changes(_ query: InspectorQuery) async throws -> JSON {
            let known = try query.number("after") ?? 0
            let clock = ContinuousClock()
            let end = clock.now + InspectorLimits.changesWaitMax
            let lacksCounts = query["counts"] == "unknown"
            // This opens the log's lock file.
            let writer = try await short.run { [log] in
                query["writer"] ?? log.reader.writer.words
            }
            let decided = LogSequence(try query.number("decided") ?? 0)
            while clock.now < end, log.isLive {
                let isChanged = try await short.run {
                    if try self.log.reader.lastSequence().value > known { return true }
                    if lacksCounts, self.counts(at: try self.log.lastShown()) != nil { return true }
                    if let space = self.log.space, try space.lastSequence() > decided {
                        return true
                    }
                    return self.log.reader.writer.words != writer
                }
                if isChanged { break }
                try await Task.sleep(for: InspectorLimits.changesPause)
            }
            if !log.isLive { try await Task.sleep(until: end, clock: clock) }
            return try await head()
        }

        private func headObject(_ status: JSON.Object) throws -> JSON.Object {
            var head = try log.head(status)
            head["log"] = .string(log.path)
            if let counts = counts(at: try log.lastShown()) {
                head["counts"] = [
                    "conflicted": .integer(Int64(counts.conflicted)),
                    "faults": .integer(Int64(counts.faults)),
                ]
            }
            guard log.isLive else { return head }
            let writer = log.reader.writer
            var object: JSON.Object = ["isThere": .bool(writer.isThere)]
            object["process"] = writer.process.map { .integer(Int64($0)) }
            head["writer"] = .object(object)
            return head
        }

        /// Returns the counts at the end of the log; nil if they need a fold that is not done yet.
        private func counts(at last: LogSequence) -> StateCounts? {
            let known = counts.withLock { $0 }
            if let known, known.sequence == last { return known }
            let index = index(of: log.projections[0])
            guard let seen = index.counts(at: last) else { return nil }
            counts.withLock { $0 = seen }
            return seen
        }
    }

    extension LogWriterPresence {
        /// The writer as a request names it: its process, `unknown`, or `none` if nobody writes.
        fileprivate var words: String {
            guard isThere else { return "none" }
            return process.map { "\($0)" } ?? "unknown"
        }
    }

    extension ReplayProjection {
        /// The projection as the head lists it. `actors` says what an actor of the events is; it is
        /// absent if they have none.
        var headJSON: JSON {
            var object: JSON.Object = [
                "name": .string(name), "isRows": .bool(isRows),
                "isOverDocuments": .bool(view.isOverDocuments),
                "areEventsDescribed": .bool(view.areEventsDescribed),
                "checks": .array(view.checkNames.map { .string($0) }),
            ]
            object["actors"] = view.actorNoun.map { .string($0) }
            return .object(object)
        }
    }

    extension Attempt {
        /// The attempts as the head and the story of an intent list them.
        var headJSON: JSON {
            var object: JSON.Object = [
                "count": .integer(Int64(count)),
                "startedAt": .integer(startedAt.millisecondsSince1970),
            ]
            if let quarantine {
                object["quarantine"] = [
                    "since": .integer(quarantine.since.millisecondsSince1970),
                    "reason": .string(quarantine.reason),
                ]
            }
            return .object(object)
        }
    }
#endif
