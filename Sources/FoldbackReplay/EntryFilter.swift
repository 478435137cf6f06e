#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// The entries to print: those that match all given options.
    struct EntryFilter: ParsableArguments {
        @Option(
            help:
                "Only this kind: intent, acknowledged, rejected, withdrawn, abandoned, undone, lapsed, restored, released, dismissed or confirmed; repeatable."
        )
        var kind: [String] = []

        @Option(
            help:
                "Only entries of this intent of the log: the entry that recorded it, and those that answer or name it."
        )
        var intent: UInt64?

        @Option(help: "Only entries with an event that touches this key, in logs of documents.")
        var key: String?

        @Option(
            help:
                "Only intents in this state: pending, accepted, confirmed, rejected or withdrawn."
        )
        var state: String?

        @Option(help: "Only entries from this moment on: 2026-11-21 or 2026-11-21T15:04:05Z.")
        var since: String?

        @Option(help: "Only entries before this moment.")
        var until: String?

        @Option(
            help: ArgumentHelp(
                "Only entries with which a conflict began (conflict), or with a confirmed event that was skipped because it does not fit the state (fault).",
                discussion: "As the tool's first projection folds them.", valueName: "trouble"))
        var with: Trouble?

        /// What may not fit the state after an entry.
        enum Trouble: String, CaseIterable, ExpressibleByArgument, Sendable {
            case conflict
            case fault
        }

        /// The words of a command line that give the same filter.
        var words: [String] {
            func option(_ name: String, _ value: String?) -> [String] {
                value.map { [name, $0] } ?? []
            }
            return kind.flatMap { ["--kind", $0] } + option("--intent", intent.map { "\($0)" })
                + option("--key", key) + option("--state", state) + option("--since", since)
                + option("--until", until) + option("--with", with?.rawValue)
        }

        func validate() throws {
            let kinds =
                ["intent", "acknowledged", "confirmed"]
                + IntentChange.Kind.allCases.map(\.rawValue)
            for kind in kind where !kinds.contains(kind) {
                let known = kinds.joined(separator: ", ")
                throw ValidationError("\(kind) is not a kind of entry; use one of \(known)")
            }
            if let state, IntentState(rawValue: state) == nil {
                throw ValidationError(
                    "\(state) is not a state of an intent; use pending, accepted, confirmed, rejected or withdrawn"
                )
            }
            let (start, end) = try times()
            if let start, let end, let since, let until, start >= end {
                throw ValidationError("--since \(since) is not before --until \(until)")
            }
        }

        /// The bounds in milliseconds since 1970; nil for no bound.
        private func times() throws -> (since: Int64?, until: Int64?) {
            (try since.map(Self.milliseconds), try until.map(Self.milliseconds))
        }

        private static func milliseconds(_ text: String) throws -> Int64 {
            // A day has no T. The parser takes February 30 for March 2, so the date must come back.
            let moment = text.contains("T") ? text : text + "T00:00:00Z"
            guard let date = try? Date(moment, strategy: .iso8601),
                !moment.hasSuffix("Z") || date.formatted(.iso8601) == moment
            else {
                throw ValidationError(
                    "\(text) is not a moment; write 2026-11-21 or 2026-11-21T15:04:05Z")
            }
            return Int64((date.timeIntervalSince1970 * 1_000).rounded())
        }

        /// Returns a function that decides whether to print an entry. `--state` means the state at
        /// the end of the log.
        ///
        /// - Parameter view: the projection that `--with` asks; nil if the tool has none.
        func predicate(
            in reader: LogReader, _ view: (any ReplayedView)?
        ) throws -> (LogEntry<[UInt8]>) throws -> Bool {
            var matcher = try matcher(in: reader, view)
            return { try matcher.matches($0) }
        }

        /// Returns a value that decides the same. It may be kept while the log grows.
        func matcher(
            in reader: LogReader, _ view: (any ReplayedView)?
        ) throws -> EntryMatcher {
            let (since, until) = try times()
            let wanted = state.flatMap { IntentState(rawValue: $0) }
            return EntryMatcher(
                kinds: Set(kind), since: since, until: until, key: key.map { ExactString($0) },
                wanted: wanted, states: wanted == nil ? nil : try reader.states(),
                intent: try intent.map { try EntryMatcher.Intent(IntentNumber($0), in: reader) },
                folding: try with.map { try EntryMatcher.Folding($0, reader, view) })
        }
    }

    /// Decides which entries a filter takes.
    struct EntryMatcher: Sendable {
        fileprivate let kinds: Set<String>
        /// Bounds in milliseconds since 1970.
        fileprivate let since: Int64?
        fileprivate let until: Int64?
        fileprivate let key: ExactString?
        fileprivate let wanted: IntentState?
        fileprivate let states: (@Sendable (IntentNumber) throws(LogError) -> IntentState?)?
        fileprivate var intent: Intent?
        fileprivate var folding: Folding?
        fileprivate var previous: LogSequence = 0

        /// - Parameter entry: the next entry. Entries come in the order of the log; an earlier one
        ///   costs a new fold with `--with`.
        mutating func matches(_ entry: LogEntry<[UInt8]>) throws -> Bool {
            let previous = previous
            self.previous = entry.sequence
            let time = entry.time.millisecondsSince1970
            guard kinds.isEmpty || kinds.contains(entry.kindName),
                since.map({ $0 <= time }) ?? true, until.map({ time < $0 }) ?? true
            else { return false }
            if let isOfIntent = intent?.isIn(entry), !isOfIntent { return false }
            if let key, !entry.touches(key) { return false }
            if let wanted {
                guard let number = entry.ownIntent, try states?(number) == wanted else {
                    return false
                }
            }
            return try folding?.isWith(entry.sequence, after: previous) ?? true
        }
    }

    extension EntryMatcher {
        /// A fold that says what did not fit the state after an entry, and did before it.
        struct Folding: Sendable {
            private let wanted: EntryFilter.Trouble
            private let log: LogReader
            private let view: any ReplayedView
            private var frames: any FrameReader

            init(
                _ wanted: EntryFilter.Trouble, _ log: LogReader, _ view: (any ReplayedView)?
            ) throws {
                guard let view else {
                    throw ValidationError(
                        "--with \(wanted.rawValue) needs a projection, and this tool has none")
                }
                (self.wanted, self.log, self.view) = (wanted, log, view)
                frames = try view.frames(log, after: 0)
            }

            /// - Parameter previous: an entry before it: at best the last one, because the states after
            ///   it are looked at one by one.
            mutating func isWith(
                _ sequence: LogSequence, after previous: LogSequence
            ) throws -> Bool {
                if frames.sequence >= sequence { frames = try view.frames(log, after: 0) }
                if previous < sequence {
                    while frames.sequence < previous, try frames.skip() {}
                }
                var before = frames.troubles
                while frames.sequence < sequence {
                    before = frames.troubles
                    guard try frames.skip() else { return false }
                }
                let now = frames.troubles
                return switch wanted {
                case .conflict: now.hasConflict(notIn: before)
                case .fault: now.hasFault(notIn: before)
                }
            }
        }

        /// An intent of the log.
        ///
        /// A batch may name an intent of another replica with the same number. Only the entry that
        /// recorded the intent has the right replica, because the log may have another replica id
        /// now.
        struct Intent: Sendable {
            private let number: IntentNumber
            /// Nil if the intent is not recorded yet.
            private var own: IntentID?

            init(_ number: IntentNumber, in reader: LogReader) throws {
                self.number = number
                own = try ownIntent(number, in: reader)
            }

            /// Whether an entry is about the intent.
            mutating func isIn(_ entry: LogEntry<[UInt8]>) -> Bool {
                if entry.ownIntent == number {
                    own = IntentID(replica: entry.replica, number: number)
                }
                if entry.intentNumbers.contains(number) { return true }
                return own.map(entry.origins.contains) ?? false
            }
        }

        /// Returns nil if the intent is not recorded yet.
        private static func ownIntent(
            _ number: IntentNumber, in reader: LogReader
        ) throws -> IntentID? {
            if let id = reader.id(ofOld: number) { return id }
            var start = reader.first
            while true {
                let entries = try reader.entries(from: start, countMax: 512)
                guard let last = entries.last else { return nil }
                if let entry = entries.first(where: { $0.ownIntent == number }) {
                    return IntentID(replica: entry.replica, number: number)
                }
                start = LogSequence(last.sequence.value + 1)
            }
        }
    }

    extension LogEntry where Event == [UInt8] {
        /// The number of the intent that the entry records.
        fileprivate var ownIntent: IntentNumber? {
            guard case .intent(let intent) = content else { return nil }
            return intent.number
        }

        fileprivate func touches(_ key: ExactString) -> Bool {
            events.contains { event in
                let read = try? JSON(parsing: event.bytes)
                return read.flatMap { try? DocumentEvent(json: $0) }?.touches(key) ?? false
            }
        }
    }
#endif
