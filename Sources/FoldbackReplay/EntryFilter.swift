#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// Which entries are printed; all that is given has to hold.
    struct EntryFilter: ParsableArguments {
        @Option(
            help:
                "intent, acknowledged, rejected, withdrawn, dismissed or confirmed; again for more."
        )
        var kind: [String] = []

        @Option(
            help:
                "Entries of this intent of the log's own alone: its own, and those that say something of it."
        )
        var intent: UInt64?

        @Option(help: "Entries with an event that touches this key, of logs of documents.")
        var key: String?

        @Option(
            help:
                "Own entries of intents that are pending, accepted, confirmed, rejected or withdrawn."
        )
        var state: String?

        @Option(help: "Not older than this moment, as 2026-11-21 or 2026-11-21T15:04:05Z.")
        var since: String?

        @Option(help: "Older than this moment.")
        var until: String?

        func validate() throws {
            let kinds =
                ["intent", "acknowledged", "confirmed"]
                + IntentChange.Kind.allCases.map(\.rawValue)
            for kind in kind where !kinds.contains(kind) {
                throw ValidationError("there is no kind of entry \(kind)")
            }
            if let state, IntentState(rawValue: state) == nil {
                throw ValidationError("there is no state \(state)")
            }
            let (start, end) = try times()
            if let start, let end, let since, let until, start >= end {
                throw ValidationError("--since \(since) is not before --until \(until)")
            }
        }

        /// In milliseconds since 1970; nil where there is no bound.
        private func times() throws -> (since: Int64?, until: Int64?) {
            (try since.map(Self.milliseconds), try until.map(Self.milliseconds))
        }

        private static func milliseconds(_ text: String) throws -> Int64 {
            let day = try? Date(text + "T00:00:00Z", strategy: .iso8601)
            guard let date = day ?? (try? Date(text, strategy: .iso8601)) else {
                throw ValidationError(
                    "\(text) is no moment; write 2026-11-21 or 2026-11-21T15:04:05Z")
            }
            return Int64((date.timeIntervalSince1970 * 1_000).rounded())
        }

        /// What decides on an entry. State is that at the end of the log.
        func predicate(in reader: LogReader) throws -> (LogEntry<[UInt8]>) throws -> Bool {
            let (since, until) = try times()
            let kinds = Set(kind)
            let wanted = state.flatMap { IntentState(rawValue: $0) }
            let key = key.map { ExactString($0) }
            let states = wanted == nil ? nil : try reader.states()
            let isOfIntent = try intent.map { try Self.isOf(IntentNumber($0), in: reader) }
            return { entry in
                let time = entry.time.millisecondsSince1970
                guard kinds.isEmpty || kinds.contains(entry.kindName),
                    since.map({ $0 <= time }) ?? true, until.map({ time < $0 }) ?? true
                else { return false }
                if let isOfIntent, !isOfIntent(entry) { return false }
                if let key, !entry.touches(key) { return false }
                guard let wanted else { return true }
                guard let number = entry.ownIntent else { return false }
                return try states?(number) == wanted
            }
        }
    }

    extension EntryFilter {
        /// Which entries are of an intent of this log. A batch names intents of others with the same number; whose
        /// name its own one has, only its entry says: a log may have changed its name since.
        private static func isOf(
            _ number: IntentNumber, in reader: LogReader
        ) throws -> (LogEntry<[UInt8]>) -> Bool {
            var own = try ownIntent(number, in: reader)
            return { entry in
                if entry.ownIntent == number {
                    own = IntentID(replica: entry.replica, number: number)
                }
                if entry.intentNumbers.contains(number) { return true }
                return own.map(entry.origins.contains) ?? false
            }
        }

        /// Nil where it is not recorded yet.
        private static func ownIntent(
            _ number: IntentNumber, in reader: LogReader
        ) throws -> IntentID? {
            var start: LogSequence = 1
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
            guard case .intent(let number, _, _, _, _) = content else { return nil }
            return number
        }

        fileprivate func touches(_ key: ExactString) -> Bool {
            events.contains { event in
                let read = try? JSON(parsing: event.bytes)
                return read.flatMap { try? DocumentEvent(json: $0) }?.touches(key) ?? false
            }
        }
    }
#endif
