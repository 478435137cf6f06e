#if ReplayTool
    import Foldback
    import FoldbackHistory

    /// A projection whose states a ``ReplayTool`` shows.
    public struct ReplayProjection: Sendable {
        public let name: String
        private(set) var view: any ReplayedView
        private let type: any EventFold.Type

        /// Returns the projection with those that may share conflicts with it.
        ///
        /// All commands fold with this, so a tool only lists its projections.
        func among(_ projections: [ReplayProjection]) -> ReplayProjection {
            var found = self
            found.view = view.among(projections.map(\.type))
            return found
        }

        /// The name with which a log notes that the projection shares conflicts.
        var nameInLog: String { type.memberName.string }

        /// - Parameters:
        ///   - projection: the projection whose states are shown.
        ///   - checks: conditions on every state, by name, for `first-break --check`. Each returns
        ///     true for a good state.
        public init<P: Projection>(
            _ projection: P.Type, checks: [String: @Sendable (Snapshot<P>) -> Bool] = [:]
        ) {
            name = P.name
            type = projection
            view = TypedView<P>(source: SourceName(P.self), checks: checks, verified: P.self)
        }

        /// The rows are folded in memory. A state is the tables, with each row under its key.
        ///
        /// - Parameters:
        ///   - projection: the stored projection whose rows are shown.
        ///   - checks: conditions on every state, by name, for `first-break --check`.
        public init<P: StoredProjection>(
            _ projection: P.Type,
            checks: [String: @Sendable (Snapshot<RowsInMemory<P>>) -> Bool] = [:]
        ) {
            name = P.name
            type = projection
            let rows = SourceName(P.self)
            view = TypedView<RowsInMemory<P>>(
                source: SourceName(module: rows.module, type: "RowsInMemory<\(rows.type)>"),
                checks: checks, verified: P.self)
        }

        /// Whether the states are tables of rows.
        var isRows: Bool { type is any StoredProjection.Type }
    }

    /// Two versions of a projection, for `rerun`.
    public struct ReplayComparison: Sendable {
        public let name: String
        let run: @Sendable (LogReader, [ReplayProjection], _ divergencesMax: Int) throws -> Rerun

        public init<Old: Projection, New: Projection>(
            _ name: String, old: Old.Type, new: New.Type
        ) {
            self.name = name
            run = { log, projections, divergencesMax in
                let view = ReplayProjection(old).among(projections).view
                let also = (view as? TypedView<Old>)?.also ?? []
                return try log.rerun(old, new, also: also, divergencesMax: divergencesMax)
            }
        }
    }

    /// A projection as commands use it, without its types.
    protocol ReplayedView: Sendable {
        /// Returns the same with the log's other projections.
        func among(_ projections: [any EventFold.Type]) -> any ReplayedView
        /// The types of these as source code has them, by the names that logs note.
        var others: [(name: ExactString, source: SourceName)] { get }
        /// Returns the log's first event if no event of the first entries can be read; nil if one
        /// can.
        func foreignEvent(in log: LogReader) throws -> String?
        /// Returns the entry as a line of text, with the events as the projection's codec reads them.
        func line(of entry: LogEntry<[UInt8]>) -> String
        /// The same without the sequence and the time.
        func words(of entry: LogEntry<[UInt8]>) -> String
        /// The entry as `log --json` prints it.
        func json(of entry: LogEntry<[UInt8]>) -> JSON
        /// What an actor of the events is, in one word; nil if they do not say who caused them.
        var actorNoun: String? { get }
        /// Whether ``json(of:)`` has descriptions of events, from which their bytes cannot be made.
        var areEventsDescribed: Bool { get }
        func state(_ log: LogReader, at sequence: LogSequence) throws -> SeenState
        /// Returns what is open at the log's end, without the state as JSON.
        func openIntents(_ log: LogReader) throws -> SeenOpenIntents
        /// Returns a reader of the frames after entry `sequence`; 0 is before the first entry.
        func frames(_ log: LogReader, after sequence: LogSequence) throws -> any FrameReader
        func causes(_ log: LogReader, of place: JSONPointer) throws -> [SeenCause]
        func story(_ log: LogReader, of number: IntentNumber) throws -> SeenStory
        /// Returns the confirmed events of an intent of another replica.
        func events(_ log: LogReader, from intent: IntentID) throws -> [SeenEvents]
        func firstBreak(
            _ log: LogReader, assumingMonotone: Bool, _ condition: BreakCondition,
            _ progress: Progress
        ) throws -> SeenBreak?
        var checkNames: [String] { get }
        var source: SourceName { get }
        /// Whether the events are ``/Foldback/DocumentEvent``s.
        var isOverDocuments: Bool { get }
        func end(of history: RecordedHistory<[UInt8]>) throws -> SeenState
        /// Checks a whole log, with the projection's states and rows.
        func verification(_ log: LogReader) throws -> Verification
        /// Returns in words how the rows that the app has stored at the log's end differ from the
        /// fold; none if they do not, or if the app stores no rows.
        func rowsDiffering(in log: LogReader) throws -> [String]
        func branched(_ log: LogReader, _ edits: [RawEdit]) throws -> SeenBranch
        /// Returns how the states would differ without each of some intents.
        func divergences(
            _ log: LogReader, withoutEachOf numbers: Set<IntentNumber>
        ) throws -> [IntentNumber: Divergences]
        /// Returns nil if the whole log does not fail.
        func minimized(
            _ log: LogReader, tries: Int, _ expectation: StateExpectation?, _ progress: Progress,
            _ fails: @escaping (String) throws -> Bool
        ) async throws -> SmallHistory?
        /// Returns where the new history behaves differently from the old history; nil if nowhere.
        func deviation(
            of new: RecordedHistory<[UInt8]>, from old: RecordedHistory<[UInt8]>
        ) throws -> String?
    }

    /// The name of a type in source code.
    struct SourceName {
        let module: String
        let type: String

        init(module: String, type: String) {
            self.module = module
            self.type = type
        }

        init(_ type: Any.Type) {
            let names = String(reflecting: type).split(separator: ".")
            module = names.first.map(String.init) ?? ""
            self.type = names.dropFirst().joined(separator: ".")
        }
    }

    /// A state as JSON.
    struct SeenState: Sendable {
        /// The state with the members of the shell's answer to `view`, and reasons.
        let json: JSON
        let pending: [IntentNumber]
        let accepted: [IntentNumber]
        let conflicted: [(number: IntentNumber, reason: String)]
        let faults: [Fault]

        init<P: Projection>(_ snapshot: Snapshot<P>) {
            json = snapshot.json
            pending = snapshot.pending
            accepted = snapshot.accepted
            conflicted = snapshot.conflicted.map { ($0, snapshot.conflict(of: $0) ?? "") }
            faults = snapshot.faults
        }

        var view: JSON { json["view"] ?? .null }
        var confirmed: JSON { json["confirmed"] ?? .null }
    }

    /// What is open at the end of a log.
    struct SeenOpenIntents {
        /// An intent of the overlay.
        struct Intent {
            let number: IntentNumber
            let state: IntentState
            /// Whether it is a draft.
            let isHeld: Bool
            /// When it was recorded.
            let time: Timestamp
            /// What it does, in words.
            let event: String
            /// Why it does not apply; nil if it does.
            let conflict: String?
        }

        let overlay: [Intent]
        /// Neither dismissed nor retried, ascending.
        let rejections: [IntentNumber]
        let faults: [Fault]

        init<P: Projection>(_ snapshot: Snapshot<P>) {
            let held = Set(snapshot.drafts)
            overlay = snapshot.overlay.map { intent in
                let event = intent.event.flatMap { try? LoggedEvent($0, writtenBy: P.codec) }
                return Intent(
                    number: intent.number, state: intent.state,
                    isHeld: held.contains(intent.number), time: intent.time,
                    event: event?.sentence ?? "an event that this tool cannot read",
                    conflict: snapshot.conflict(of: intent.number))
            }
            rejections = snapshot.rejections
            faults = snapshot.faults
        }
    }

    struct SeenCause {
        let line: String
        let json: JSON
        let view: (old: JSON?, new: JSON?)
        let confirmed: (old: JSON?, new: JSON?)

        init<Event>(_ cause: Cause<Event>) {
            line = cause.entry.line(ofEvents: cause.events)
            view = (cause.view.old, cause.view.new)
            confirmed = (cause.confirmed.old, cause.confirmed.new)
            func change(_ change: Cause<Event>.Change) -> JSON {
                var object = JSON.Object()
                object["old"] = change.old
                object["new"] = change.new
                return .object(object)
            }
            var object: JSON.Object = [
                "entry": cause.entry.json, "intents": .array(cause.intents.map { .of($0) }),
            ]
            if case .confirmed(let events, _) = cause.entry.content, !cause.events.isEmpty {
                object["positions"] = .of(cause.events.map { events[$0].position })
            }
            if cause.view.isChange { object["view"] = change(cause.view) }
            if cause.confirmed.isChange { object["confirmed"] = change(cause.confirmed) }
            json = .object(object)
        }
    }

    struct SeenStory {
        struct Chapter {
            let line: String
            let entry: JSON
            let state: IntentState?
            let conflict: String?
            let changes: [JSONDifference]
            let others: [SeenIntent]
        }

        let number: IntentNumber
        let state: IntentState
        let chapters: [Chapter]
        let attempt: Attempt?

        init<Event>(_ story: IntentStory<Event>) {
            number = story.number
            state = story.state
            attempt = story.attempt
            chapters = story.chapters.map { chapter in
                Chapter(
                    line: chapter.entry.line, entry: chapter.entry.json, state: chapter.state,
                    conflict: chapter.conflict, changes: chapter.changes,
                    others: chapter.others.map { SeenIntent($0) })
            }
        }
    }

    /// The confirmed events of an intent in one entry, and what they changed.
    struct SeenEvents {
        let line: String
        let entry: JSON
        let changes: [JSONDifference]

        init<Event>(_ events: IntentEvents<Event>) {
            line = events.entry.line(ofEvents: events.places)
            entry = events.entry.json
            changes = events.changes
        }

        var json: JSON { ["entry": entry, "changes": changes.json] }
    }

    /// An intent of the overlay whose effect changed.
    struct SeenIntent {
        let number: IntentNumber
        let old: String
        let new: String

        init<Event>(_ changed: IntentStory<Event>.ChangedIntent) {
            (number, old, new) = (changed.number, changed.old.text, changed.new.text)
        }

        var json: JSON {
            ["intent": .of(number), "old": .string(old), "new": .string(new)]
        }
    }

    extension IntentStory.Effect {
        fileprivate var text: String {
            switch self {
            case .conflicted(let reason): "conflicted: \(reason)"
            case .changes(let changes) where changes.isEmpty: "changes nothing"
            case .changes(let changes):
                changes.map { "\($0.place) \($0.new.map { "\($0)" } ?? "removed")" }
                    .joined(separator: ", ")
            }
        }
    }

    /// A condition that every state must meet.
    enum BreakCondition {
        case check(String)
        case state(StateExpectation)
        case command((SeenState) throws -> StateCheck)
    }

    struct SeenBreak {
        let entry: (line: String, json: JSON)?
        let before: SeenState?
        let after: SeenState
        let inconclusive: [LogSequence]
        let looked: Int
        let isExact: Bool
    }
#endif
