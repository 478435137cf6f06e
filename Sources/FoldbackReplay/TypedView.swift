#if ReplayTool
    import Foldback
    import FoldbackHistory

    /// A projection with its types, and with the projections that may share conflicts with it.
    struct TypedView<P: Projection>: ReplayedView {
        let source: SourceName
        let checks: [String: @Sendable (Snapshot<P>) -> Bool]
        /// The projection as stores have it, whose rows may be in the log.
        let verified: any EventFold.Type
        /// The log's other projections. Some may share their conflicts with this projection.
        var also: [AdditionalProjection<P.Event>] = []

        var others: [(name: ExactString, source: SourceName)] {
            also.map { ($0.type.memberName, SourceName($0.type)) }
        }

        func among(_ projections: [any EventFold.Type]) -> any ReplayedView {
            func additional<Q: EventFold>(_: Q.Type) -> AdditionalProjection<P.Event>? {
                AdditionalProjection(Q.self) as Any as? AdditionalProjection<P.Event>
            }
            var view = self
            // Versions of one projection can have the same name.
            var names: Set<ExactString> = [P.memberName]
            view.also = projections.compactMap { additional($0) }
                .filter { names.insert($0.type.memberName).inserted }
            return view
        }

        var isOverDocuments: Bool { P.Event.self == DocumentEvent.self }

        func foreignEvent(in log: LogReader) throws -> String? {
            // The events are only decoded: a fold needs all projections that share conflicts.
            let codec = AppCodec(codec: P.codec)
            var first: String?
            var start = log.first
            for _ in 0..<100 {
                // The command itself reports an entry that cannot be read, if it needs the entry.
                guard let entry = try? log.entries(from: start, countMax: 1).first else { break }
                for event in entry.events {
                    guard !codec.canRead(event.bytes, format: event.format) else { return nil }
                    first = first ?? String(event.text.prefix(80))
                }
                start = entry.sequence.next
            }
            return first
        }

        func line(of entry: LogEntry<[UInt8]>) -> String { read(entry)?.line ?? entry.line }

        func words(of entry: LogEntry<[UInt8]>) -> String { read(entry)?.words ?? entry.words }

        func json(of entry: LogEntry<[UInt8]>) -> JSON { read(entry)?.json ?? entry.json }

        /// Returns the entry with the events as the codec reads them; nil if all bytes are text, because
        /// they are shown as they are.
        private func read(_ entry: LogEntry<[UInt8]>) -> LogEntry<P.Event>? {
            let isText = entry.events.allSatisfy { $0.format.codec == EventFormat.json.codec }
            return isText ? nil : entry.read(by: P.codec)
        }

        var actorNoun: String? { (P.Event.self as? any AttributedEvent.Type)?.actorNoun }

        var areEventsDescribed: Bool {
            P.codec.format.codec != EventFormat.json.codec
                && P.Event.self is any JSONRepresentable.Type
        }

        func state(_ log: LogReader, at sequence: LogSequence) throws -> SeenState {
            SeenState(try log.snapshot(of: P.self, also: also, at: sequence))
        }

        func openIntents(_ log: LogReader) throws -> SeenOpenIntents {
            let last = try log.lastSequence()
            return SeenOpenIntents(try log.snapshot(of: P.self, also: also, at: last))
        }

        func frames(_ log: LogReader, after sequence: LogSequence) throws -> any FrameReader {
            try log.frames(of: P.self, also: also, after: sequence)
        }

        func causes(_ log: LogReader, of place: JSONPointer) throws -> [SeenCause] {
            try log.causes(of: place, in: P.self, also: also).map { SeenCause($0) }
        }

        func story(_ log: LogReader, of number: IntentNumber) throws -> SeenStory {
            SeenStory(try log.story(of: number, in: P.self, also: also))
        }

        func events(_ log: LogReader, from intent: IntentID) throws -> [SeenEvents] {
            try log.events(from: intent, in: P.self, also: also).map { SeenEvents($0) }
        }

        func verification(_ log: LogReader) throws -> Verification {
            func verification<Q: EventFold>(of projection: Q.Type) throws -> Verification {
                try log.verify(projection, also: also as? [AdditionalProjection<Q.Event>] ?? [])
            }
            return try verification(of: verified)
        }

        func rowsDiffering(in log: LogReader) throws -> [String] {
            guard verified is any StoredProjection.Type else { return [] }
            let verification = try verification(log)
            var lines = verification.findings.compactMap { finding -> String? in
                guard case .rows(verified.name) = finding.place else { return nil }
                return "the app's stored rows differ from this: \(finding.what)"
            }
            if verification.notCompared.contains(verified.name) {
                lines.append(
                    "the app's stored rows may differ from this: the code that made them reads "
                        + "other events, or other members of them, than this tool")
            }
            return lines
        }

        var checkNames: [String] { checks.keys.sorted() }

        func end(of history: RecordedHistory<[UInt8]>) throws -> SeenState {
            SeenState(try history.read(by: P.codec).snapshot(of: P.self, also: also))
        }

        func branched(_ log: LogReader, _ edits: [RawEdit]) throws -> SeenBranch {
            let history = try log.history().read(by: P.codec)
            let branch = try history.branch(try edits.map { try $0.typed(by: P.codec) })
            return SeenBranch(
                log: { try LogReader(branch.history) }, rows: branch.rows(beside: history),
                leftOut: branch.leftOut, inserted: branch.inserted,
                renumbered: branch.intents.filter { $0.key != $0.value }
                    .map { (new: $0.key, old: $0.value) }.sorted { $0.new < $1.new },
                retryingNothing: branch.retryingNothing,
                divergences: try history.divergences(of: branch, in: P.self, also: also),
                end: SeenState(try branch.history.snapshot(of: P.self, also: also)))
        }

        func divergences(
            _ log: LogReader, withoutEachOf numbers: Set<IntentNumber>
        ) throws -> [IntentNumber: Divergences] {
            guard !numbers.isEmpty else { return [:] }
            let history = try log.history().read(by: P.codec)
            return try history.divergences(
                withoutEachOf: numbers, in: P.self, also: also,
                stepsMax: PageReport.absenceStepsMax)
        }

        func minimized(
            _ log: LogReader, tries: Int, _ expectation: StateExpectation?, _ progress: Progress,
            _ fails: @escaping (String) throws -> Bool
        ) async throws -> SmallHistory? {
            let history = try log.history().read(by: P.codec)
            let found = try await history.minimized(candidatesMax: tries) { candidate in
                progress.advance()
                guard let expectation else { return try fails(candidate.ndjson) }
                let before = try candidate.snapshot(of: P.self, also: also, at: 0)
                return try !expectation.holds(of: before.view)
                    || candidate.snapshots(of: P.self, also: also).contains {
                        !expectation.holds(of: $0.view)
                    }
            }
            guard found.end != .neverFailed else { return nil }
            return SmallHistory(
                history: found.history.ndjson, entryCount: found.history.count,
                entryCountBefore: history.count, tried: found.candidatesTried,
                isWhole: found.end == .minimalForThesePasses)
        }

        func firstBreak(
            _ log: LogReader, assumingMonotone isMonotone: Bool, _ condition: BreakCondition,
            _ progress: Progress
        ) throws -> SeenBreak? {
            func first(where isGood: (Snapshot<P>) throws -> StateCheck) throws -> FirstBreak<P>? {
                try log.firstBreak(in: P.self, also: also, assumingMonotone: isMonotone) {
                    snapshot in
                    progress.advance()
                    return try isGood(snapshot)
                }
            }
            let found =
                switch condition {
                case .check(let name):
                    try first { checks[name]?($0) ?? true ? .good : .bad }
                case .state(let expectation):
                    try log.firstBreak(
                        of: expectation, in: P.self, also: also, assumingMonotone: isMonotone)
                case .command(let verdict): try first { try verdict(SeenState($0)) }
                }
            return found.map { found in
                SeenBreak(
                    entry: found.entry.map { ($0.line, $0.json) },
                    before: found.before.map { SeenState($0) }, after: SeenState(found.after),
                    inconclusive: found.inconclusive, looked: found.looked, isExact: found.isExact)
            }
        }
    }
#endif
