#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Synchronization

    /// The answers of the inspector's routes.
    ///
    /// Each is made from the code of the command that prints the same with `--json`.
    final class InspectorAnswers: Sendable {
        let log: InspectedLog
        /// For answers that the page waits for.
        let short = Workers(
            "short", threads: InspectorLimits.shortWorkers,
            waitingMax: InspectorLimits.shortWaitingMax)
        /// For questions that fold the whole log.
        let long = Workers(
            "long", threads: InspectorLimits.longWorkers,
            waitingMax: InspectorLimits.longWaitingMax)
        let background = Workers("background", threads: 1, waitingMax: 0)
        let branches = Mutex(InspectorBranches())
        let counts = Mutex<StateCounts?>(nil)
        let statuses: StatusCache
        /// The entries that recorded pending and accepted intents, as far as they were asked for.
        let recordings = Mutex<[IntentNumber: LogSequence]>([:])
        private let indexes = Mutex<[String: FrameIndex]>([:])
        private let scans = Mutex<[(key: [String], scan: EntryScan)]>([])

        /// The first projection's conflicts and faults at the end of the log.
        struct StateCounts {
            let sequence: LogSequence
            let conflicted: Int
            let faults: Int
        }

        init(_ log: InspectedLog) {
            self.log = log
            statuses = StatusCache(log, long)
            index(of: log.projections[0]).advance()
        }

        /// Returns the answer to a GET request.
        func answer(to path: String, _ query: InspectorQuery) async throws -> JSON {
            switch path {
            case "/api/head": try await head()
            case "/api/changes": try await changes(query)
            case "/api/rows": try await rows(query)
            case "/api/place": try await place(query)
            case "/api/intents": try await intents(query)
            case "/api/frames": try await frames(query)
            case "/api/at": try await state(query)
            case "/api/why": try await causes(query)
            case "/api/story": try await story(query)
            case "/api/marks": try marks(query)
            case "/api/decisions": try await decisions(query)
            case "/api/verify": try await verification()
            case "/api/plot": try await plot(query)
            case "/api/branch": try await branchState(query)
            case "/api/first-break": try await firstBreak(query)
            case "/api/rerun": try await rerun(query)
            case "/api/export": try await export(query)
            default: throw InspectorError.unknown("there is no \(path)")
            }
        }

        /// Returns the answer to a POST request with a JSON object.
        func answer(toPost path: String, _ body: JSON) async throws -> JSON {
            switch path {
            case "/api/what-if": try await branch(body)
            case "/api/minimize": try await minimized(body)
            default: throw InspectorError.unknown("there is no \(path) for POST")
            }
        }

        func projection(_ query: InspectorQuery) throws -> ReplayProjection {
            try log.projection(named: query["projection"])
        }

        /// Returns the index of a projection, and lets it follow the log.
        func index(of projection: ReplayProjection) -> FrameIndex {
            let index = indexes.withLock { indexes in
                if let index = indexes[projection.name] { return index }
                let index = FrameIndex(log, projection.view, short, background: background)
                indexes[projection.name] = index
                return index
            }
            index.advance()
            return index
        }

        /// Returns the scan for a filter, and lets it follow the log. Only the last few are kept.
        func scan(_ query: InspectorQuery) throws -> EntryScan {
            let words = query.filterWords
            let key = words + [query.text ?? ""]
            let scan = try scans.withLock { scans in
                if let place = scans.firstIndex(where: { $0.key == key }) {
                    let found = scans.remove(at: place)
                    scans.append(found)
                    return found.scan
                }
                let scan = try EntryScan(log, words, query.text)
                scans.append((key, scan))
                if scans.count > InspectorLimits.scansMax { scans.removeFirst().scan.drop() }
                return scan
            }
            scan.advance(background)
            return scan
        }
    }
#endif
