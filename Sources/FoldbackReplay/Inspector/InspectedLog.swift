#if ReplayTool
    import Foldback
    import FoldbackCollections
    import FoldbackHistory
    import Synchronization

    /// The log that an inspector shows, and what is known about it.
    ///
    /// Nothing here writes to it (L9).
    final class InspectedLog: Sendable {
        let tool: String
        /// The path, as the user wrote it.
        let path: String
        /// A name for files that are made from the log.
        let name: String
        let reader: LogReader
        /// Whether the log may grow. A file, and a redacted log, are in memory.
        let isLive: Bool
        let isRedacted: Bool
        /// The projections that the page can show; the first is shown first.
        let projections: [ReplayProjection]
        /// The tool's projections in its own order, for `rerun`.
        let listed: [ReplayProjection]
        let reruns: [ReplayComparison]
        /// The server's log whose decisions are shown, too.
        let space: SpaceLog?
        /// The sequences of a file with gaps, in order; nil if entry n is at sequence n.
        let sequences: [UInt64]?
        private let damage = Mutex<Damage?>(nil)

        /// The first place that could not be read.
        struct Damage: Sendable {
            /// The first sequence that is not shown; nil if it is not known.
            let sequence: LogSequence?
            let text: String
        }

        init(
            tool: String, argument: LogArgument, reader: LogReader, isLive: Bool, isRedacted: Bool,
            projections: [ReplayProjection], listed: [ReplayProjection],
            reruns: [ReplayComparison], space: SpaceLog?
        ) throws {
            self.tool = tool
            path = LogArgument.shown(argument.path)
            name = argument.name
            self.reader = reader
            self.isLive = isLive
            self.isRedacted = isRedacted
            self.projections = projections
            self.listed = listed
            self.reruns = reruns
            self.space = space
            sequences = isLive ? nil : try Self.sequences(of: reader)
        }

        private static func sequences(of reader: LogReader) throws -> [UInt64]? {
            let count = UInt64(try reader.entryCount())
            guard count != (try reader.lastSequence().value) - (reader.first.value - 1) else {
                return nil
            }
            var found: [UInt64] = []
            var start = reader.first
            while true {
                let entries = try reader.entries(from: start, countMax: InspectorLimits.pieceCount)
                guard let last = entries.last else { return found }
                found += entries.map(\.sequence.value)
                start = LogSequence(last.sequence.value + 1)
            }
        }

        /// Returns the entry as `log --json` prints it.
        func json(of entry: LogEntry<[UInt8]>) -> JSON { projections[0].view.json(of: entry) }

        func projection(named name: String?) throws -> ReplayProjection {
            guard let name else { return projections[0] }
            guard let found = projections.first(where: { $0.name == name }) else {
                let known = projections.map(\.name).joined(separator: ", ")
                throw InspectorError.wrongUse(
                    "projection \(name) does not exist; use one of: \(known)")
            }
            return found
        }

        /// The sequence before the first entry: 0, or the base of a compacted log.
        private var before: UInt64 { reader.first.value - 1 }

        /// The last sequence that can be shown.
        func lastShown() throws -> LogSequence {
            let last = try reader.lastSequence()
            guard let bad = knownDamage?.sequence else { return last }
            return min(last, LogSequence(max(bad.value, 1) - 1))
        }

        /// The number of entries with a sequence of at most `sequence`.
        func count(upTo sequence: LogSequence) -> Int {
            guard let sequences else {
                return Int(clamping: max(sequence.value, before) - before)
            }
            return sequences.partitioningIndex { $0 > sequence.value }
        }

        /// The sequence of the entry at an index; nil after the end of a file with gaps.
        func sequence(at index: Int) -> LogSequence? {
            guard let sequences else { return LogSequence(before + UInt64(index) + 1) }
            return index < sequences.count ? LogSequence(sequences[index]) : nil
        }

        /// The last entry at or before `sequence`; 0 if there is none.
        func entry(notAfter sequence: LogSequence) -> LogSequence {
            let count = count(upTo: sequence)
            return count == 0 ? 0 : self.sequence(at: count - 1) ?? 0
        }

        /// Returns entries from `start` on. Damaged entries, and those after them, are left out, and
        /// the damage is noted.
        func entries(from start: LogSequence, countMax: Int) throws -> [LogEntry<[UInt8]>] {
            do { return try reader.entries(from: start, countMax: countMax) } catch {
                guard note(error) else { throw error }
                return oneByOne(from: start, countMax: countMax)
            }
        }

        /// Returns the entries before the first that cannot be read.
        private func oneByOne(from start: LogSequence, countMax: Int) -> [LogEntry<[UInt8]>] {
            var found: [LogEntry<[UInt8]>] = []
            var start = start
            while found.count < countMax {
                do {
                    guard let entry = try reader.entries(from: start, countMax: 1).first else {
                        return found
                    }
                    found.append(entry)
                    start = LogSequence(entry.sequence.value + 1)
                } catch {
                    _ = note(error)
                    return found
                }
            }
            return found
        }

        var knownDamage: Damage? { damage.withLock { $0 } }

        /// Notes the first damage. Returns false if the error is not damage.
        @discardableResult
        func note(_ error: any Error) -> Bool {
            guard case .damaged(let path, let sequence, let reason)? = LogFailure(error)?.logError
            else { return false }
            // A page is passed on, and the directories of this machine are not for its readers.
            let file = path.split(separator: "/").last.map(String.init) ?? path
            let named = LogError.damaged(path: file, sequence: sequence, reason: reason)
            let found = Damage(sequence: sequence, text: named.description)
            damage.withLock { known in
                let isEarlier =
                    switch (sequence, known?.sequence) {
                    case (let new?, let old?): new < old
                    case (_?, nil): true
                    case (nil, _): known == nil
                    }
                if isEarlier { known = found }
            }
            return true
        }
    }

    /// An answer that is not possible, with the words for the page.
    enum InspectorError: Error {
        case wrongUse(String)
        case unknown(String)
        case busy
    }
#endif
