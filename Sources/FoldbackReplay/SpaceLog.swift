#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Synchronization

    /// The option of a page that shows a server's decisions beside a device's log.
    struct SpaceOption: ParsableArguments {
        @Option(
            name: .customLong("space"),
            help: ArgumentHelp(
                "The log of the space that the log follows, or a file of `export`; its decisions then stand in the timeline.",
                valueName: "log"))
        var path: String?

        /// The projection that reads a device's log beside a space: the named one, else the tool's first
        /// whose events do not say who caused them.
        func projection(named name: String?, of tool: (some ReplayTool).Type) throws
            -> ReplayProjection
        {
            let device = tool.group.first { $0.view.actorNoun == nil }
            return try tool.projection(named: name ?? (path == nil ? nil : device?.name))
        }

        /// Opens the space's log, if one is given.
        ///
        /// - Parameters:
        ///   - projections: the tool's; the first whose events say who caused them reads the decisions.
        ///   - shown: the projection that reads the device's log.
        func log(
            readBy projections: [ReplayProjection], beside shown: ReplayProjection,
            isRedacted: Bool
        ) throws -> SpaceLog? {
            guard let path else { return nil }
            guard !isRedacted else {
                throw ValidationError(
                    "--space shows what other accounts did, which no redaction covers; leave one of the two out"
                )
            }
            guard shown.view.actorNoun == nil else {
                throw ValidationError(
                    "--space goes with a device's log, and \(shown.name) reads a server's; choose the device's projection with --projection"
                )
            }
            guard let found = projections.first(where: { $0.view.actorNoun != nil }),
                let noun = found.view.actorNoun
            else {
                throw ValidationError(
                    "--space needs a projection of decisions; add ReplayProjection(Decided<App>.self) to the tool"
                )
            }
            return SpaceLog(
                path: LogArgument.shown(path), noun: noun,
                reader: try LogArgument.reader(at: path), view: found.view)
        }
    }

    /// A server's log whose decisions a page shows beside a device's log.
    final class SpaceLog: Sendable {
        /// The most entries that either log may have: a browser holds the decisions in memory.
        static let entryCountMax = PageReport.entryCountMax

        /// The path, as the user wrote it.
        let path: String
        /// What an actor of the decisions is, such as `account`.
        let noun: String
        private let reader: LogReader
        private let view: any ReplayedView
        private let placed = Mutex<(ends: [LogSequence], decisions: [PlacedDecision])>(([], []))

        /// A decision with the place where it stands among the device's entries.
        struct PlacedDecision: Sendable {
            let position: Position
            let place: DecisionPlaces.Place
            let json: JSON
        }

        init(path: String, noun: String, reader: LogReader, view: any ReplayedView) {
            (self.path, self.noun, self.reader, self.view) = (path, noun, reader, view)
        }

        func lastSequence() throws -> LogSequence { try reader.lastSequence() }

        /// Returns all decisions in order. They are read again only if one of the logs has grown.
        ///
        /// - Throws: `ValidationError` if the log does not follow this space, or if one of the two is
        ///   too long; the errors of reading.
        func decisions(beside log: LogReader) throws -> [PlacedDecision] {
            try placed.withLock { placed in
                // The device first: it must know of nothing that is not read of the space.
                let ends = [try log.lastSequence(), try reader.lastSequence()]
                guard placed.ends != ends else { return placed.decisions }
                try requireFew(log, "the log")
                try requireFew(reader, path)
                placed = (ends, try place(DecisionPlaces(log)))
                return placed.decisions
            }
        }

        private func requireFew(_ log: LogReader, _ name: String) throws {
            let count = try log.entryCount()
            guard count <= Self.entryCountMax else {
                throw ValidationError(
                    "\(name) has \(count) entries, and --space shows at most \(Self.entryCountMax)"
                )
            }
        }

        private func place(_ log: DecisionPlaces) throws -> [PlacedDecision] {
            var decisions: [DecisionPlaces.Decision] = []
            var shown: [JSON] = []
            var start = reader.first
            while let next = try readPiece(from: start, &decisions, &shown) { start = next }
            let places: [DecisionPlaces.Place]
            do { places = try log.places(of: decisions) } catch {
                throw ValidationError(
                    "the log does not follow \(path): \(error); give the space with which the log is in sync"
                )
            }
            return zip(zip(decisions, shown), places).map { PlacedDecision($0.0, $0.1, at: $1) }
        }

        /// Reads some entries. Returns where the next start; nil at the end.
        private func readPiece(
            from start: LogSequence, _ decisions: inout [DecisionPlaces.Decision],
            _ shown: inout [JSON]
        ) throws -> LogSequence? {
            let entries = try reader.entries(from: start, countMax: InspectorLimits.pieceCount)
            for entry in entries {
                guard case .confirmed(let events, _) = entry.content,
                    case .array(let described)? = view.json(of: entry).objectValue?["events"]
                else { continue }
                for (event, json) in zip(events, described) {
                    // The founding of a space is nobody's.
                    guard case .object(var object) = json, object["actor"] != nil else { continue }
                    object["entry"] = .of(entry.sequence)
                    object["at"] = .integer(entry.time.millisecondsSince1970)
                    decisions.append(
                        DecisionPlaces.Decision(
                            position: event.position, origin: event.origin, time: entry.time))
                    shown.append(.object(object))
                }
            }
            return entries.last?.sequence.next
        }
    }

    extension SpaceLog.PlacedDecision {
        /// - Parameter json: the decision as `log --json` prints it.
        fileprivate init(
            _ decision: DecisionPlaces.Decision, _ json: JSON, at place: DecisionPlaces.Place
        ) {
            var object = json.objectValue ?? [:]
            object["after"] = .of(place.after)
            object["isKnown"] = .bool(place.isKnown)
            position = decision.position
            self.place = place
            self.json = .object(object)
        }
    }
#endif
