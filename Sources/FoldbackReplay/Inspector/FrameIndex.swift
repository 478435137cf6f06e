#if ReplayTool
    import Foldback
    import FoldbackCollections
    import FoldbackHistory
    import Synchronization

    /// The entries that a strip of the whole log marks.
    struct EntryMarks {
        private(set) var rejected: [LogSequence] = []
        /// With which a conflict began.
        private(set) var conflicted: [LogSequence] = []
        /// With an event that was skipped.
        private(set) var faulted: [LogSequence] = []
        /// The last entry that was looked at.
        private(set) var through: LogSequence = 0

        mutating func take(_ frame: SeenFrame, _ before: Troubles, _ now: Troubles) {
            through = frame.sequence
            // A server's decisions are events with outcomes.
            let isRejected =
                frame.entry["kind"] == "rejected"
                || frame.entry["events"]?.arrayValue?.contains { $0["outcome"] == "rejected" }
                    == true
            if isRejected { rejected.append(through) }
            if now.hasConflict(notIn: before) { conflicted.append(through) }
            if now.hasFault(notIn: before) { faulted.append(through) }
        }

        func after(_ sequence: LogSequence) -> EntryMarks {
            func later(_ marks: [LogSequence]) -> [LogSequence] {
                Array(marks[marks.partitioningIndex { $0 > sequence }...])
            }
            var marks = self
            marks.rejected = later(rejected)
            marks.conflicted = later(conflicted)
            marks.faulted = later(faulted)
            return marks
        }
    }

    /// Makes the state after any entry of a long log quickly available, for one projection.
    ///
    /// A first pass in the background keeps copies of its frame reader. A copy shares the states
    /// with the others if their collections are persistent. Other states are copied, so there are
    /// fewer copies of large states. A state then needs a fold from the nearest copy, and not
    /// from the nearest checkpoint. A second pass counts the changes of each entry. Both go on when
    /// the log grows.
    final class FrameIndex: Sendable {
        private let log: InspectedLog
        private let view: any ReplayedView
        private let workers: Workers
        private let background: Workers
        private let content = Mutex(Content())

        private struct Content {
            var copies: [any FrameReader] = []
            var stride = InspectorLimits.strideMin
            var copiesMax = InspectorLimits.copiesMax
            /// The next sequence at which the states are measured.
            var measuredNext: UInt64 = 1
            /// The reader of the first pass, which is at the end of what is covered.
            var scout: (any FrameReader)?
            /// The reader of the second pass.
            var counter: (any FrameReader)?
            /// For each entry from the first on, the number of its changes of the view.
            var changes: [UInt32] = []
            var isRunning = false
            /// Whether the first pass has not reached the end.
            var isScouting = true
            var marks = EntryMarks()
            /// Whether an error has ended the first pass.
            var hasScoutFailed = false
            /// Whether an error has ended both.
            var hasFailed = false
        }

        init(_ log: InspectedLog, _ view: any ReplayedView, _ workers: Workers, background: Workers)
        {
            self.log = log
            self.view = view
            self.workers = workers
            self.background = background
        }

        // MARK: Questions

        /// Returns a reader at the last entry that is at or before `sequence`.
        ///
        /// It continues the nearest copy, or folds from the nearest checkpoint. If both are far
        /// away, the first pass is on its way to the entry, and a second fold of the same entries
        /// would only slow it down. So this waits for the pass then.
        func reader(at sequence: LogSequence) async throws -> any FrameReader {
            let target = log.entry(notAfter: sequence)
            while true {
                if let reader = try await workers.run({ try self.nearReader(at: target) }) {
                    return reader
                }
                try await Task.sleep(for: InspectorLimits.indexPause)
            }
        }

        /// Returns nil if the first pass should come nearer first.
        private func nearReader(at target: LogSequence) throws -> (any FrameReader)? {
            let (nearest, isScouting) = content.withLock { content in
                let index = content.copies.partitioningIndex { $0.sequence > target }
                return (index > 0 ? content.copies[index - 1] : nil, content.isScouting)
            }
            let copied = nearest?.sequence ?? 0
            let checkpoint = try log.reader.checkpoints().last { $0 <= target } ?? 0
            let distance = target.value - max(copied, checkpoint).value
            if isScouting, distance > InspectorLimits.foldCountMax { return nil }
            guard var reader = nearest, copied >= checkpoint else {
                return try view.frames(log.reader, after: target)
            }
            while reader.sequence < target, try reader.skip() {}
            return reader
        }

        /// Returns the number of changes of entries, from an index on, as far as they are counted.
        func changes(of indices: Range<Int>) -> [UInt32] {
            content.withLock { content in
                Array(content.changes[indices.clamped(to: content.changes.indices)])
            }
        }

        /// Returns the marks after `sequence`, as far as the second pass has come, and whether it comes
        /// no further because of damage.
        func marks(after sequence: LogSequence) -> (marks: EntryMarks, isOver: Bool) {
            let (marks, isOver) = content.withLock { ($0.marks, $0.hasFailed) }
            return (marks.after(sequence), isOver)
        }

        /// Returns the counts of conflicts and faults after an entry; nil if the passes have not
        /// come that far.
        func counts(at sequence: LogSequence) -> InspectorAnswers.StateCounts? {
            let scout = content.withLock { $0.scout }
            guard var scout, scout.sequence == sequence else { return nil }
            let troubles = scout.troubles
            return InspectorAnswers.StateCounts(
                sequence: sequence, conflicted: troubles.conflicted.count,
                faults: troubles.faultCount)
        }

        // MARK: Passes

        /// Starts or continues the passes, if there is something left to read.
        func advance() {
            let isStarting = content.withLock { content in
                guard !content.isRunning, !content.hasFailed else { return false }
                content.isRunning = true
                return true
            }
            guard isStarting else { return }
            background.start { self.pass() }
        }

        /// Does one bounded piece of work, and then lets other indexes and scans run.
        private func pass() {
            var isMore = false
            if content.withLock({ !$0.hasScoutFailed }) {
                do { isMore = try scout() } catch {
                    log.note(error)
                    // The second pass still comes up to the damage.
                    content.withLock { content in
                        content.hasScoutFailed = true
                        content.isScouting = false
                    }
                }
            }
            if !isMore {
                do { isMore = try count() } catch {
                    log.note(error)
                    return content.withLock { content in
                        content.hasFailed = true
                        content.isRunning = false
                    }
                }
            }
            guard !isMore else { return background.start { self.pass() } }
            content.withLock { $0.isRunning = false }
        }

        private static let pieceCount = 1_024

        /// Advances the first pass. Returns false at the end of the log.
        private func scout() throws -> Bool {
            var (scout, stride) = content.withLock { ($0.scout, $0.stride) }
            var reader = try scout ?? view.frames(log.reader, after: 0)
            if scout == nil { keep(reader) }
            // Only this pass may refer to the reader. Its states are then changed in place.
            scout = nil
            content.withLock { $0.scout = nil }
            var kept = reader.sequence
            var count = 0
            var isMore = true
            // Also after an error, so that the state before the damage is known.
            defer {
                content.withLock { content in
                    content.scout = reader
                    content.isScouting = isMore
                }
            }
            while count < Self.pieceCount, isMore {
                isMore = try reader.skip()
                count += 1
                if isMore, reader.sequence.value / stride != kept.value / stride {
                    keep(reader)
                    stride = content.withLock { $0.stride }
                }
                kept = reader.sequence
            }
            return isMore
        }

        /// Keeps a copy. If there are too many, every second one goes.
        private func keep(_ reader: any FrameReader) {
            let copiesMax = copiesMax(of: reader)
            content.withLock { content in
                content.copies.append(reader)
                content.copiesMax = copiesMax
                while content.copies.count > copiesMax {
                    content.stride *= 2
                    content.copies = content.copies.enumerated().compactMap { index, copy in
                        index.isMultiple(of: 2) ? copy : nil
                    }
                }
            }
        }

        /// Returns how many copies there may be. Each time that the log has doubled, this measures
        /// the states as JSON.
        private func copiesMax(of reader: any FrameReader) -> Int {
            let (known, isDue) = content.withLock { content in
                let isDue = reader.sequence.value >= content.measuredNext
                if isDue { content.measuredNext = max(reader.sequence.value, 1) * 2 }
                return (content.copiesMax, isDue)
            }
            guard isDue else { return known }
            var measured = reader
            let bytes = max(measured.state.approximateSize, 1)
            return min(
                max(InspectorLimits.copiedBytesMax / bytes, InspectorLimits.copiesOfLargeMax),
                InspectorLimits.copiesMax)
        }

        /// Advances the second pass. Returns false at the end of the log.
        private func count() throws -> Bool {
            let counter = content.withLock { content in
                defer { content.counter = nil }
                return content.counter
            }
            var reader = try counter ?? view.frames(log.reader, after: 0)
            var counts: [UInt32] = []
            var marks = content.withLock { $0.marks }
            var before = reader.troubles
            // Also before an error, so that what comes before the damage is known.
            defer {
                content.withLock { content in
                    content.counter = reader
                    content.changes += counts
                    content.marks = marks
                }
            }
            while counts.count < Self.pieceCount / 4, let frame = try reader.nextFrame() {
                counts.append(UInt32(clamping: frame.viewChangeCount))
                let now = reader.troubles
                marks.take(frame, before, now)
                before = now
            }
            return !counts.isEmpty
        }
    }
#endif
