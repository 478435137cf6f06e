#if ReplayTool
    import Foldback
    import FoldbackCollections
    import FoldbackHistory
    import Synchronization

    /// The sequences of the entries that match a filter, found by a scan in the background.
    final class EntryScan: Sendable {
        private let log: InspectedLog
        private let filter: @Sendable () throws -> EntryMatcher
        private let text: SearchedText?
        /// Whether a later entry may change whether earlier entries match.
        private let dependsOnEnd: Bool
        private let content: Mutex<Content>

        private struct Content {
            /// The sequences of the matching entries before `next`.
            var matches: [UInt64] = []
            var next: LogSequence
            /// The matches of a search that will replace these.
            var fresh: [UInt64] = []
            /// The search that has come to `next`, so that it can go on. Always nil if the filter
            /// depends on the end of the log.
            var search: Search?
            var isRunning = false
            var isDropped = false
            var failure: (any Error)?
        }

        /// A search that is on its way. Only one thread at a time has it.
        private struct Search: Sendable {
            var matcher: EntryMatcher
            var next: LogSequence
            /// Matches of the last piece.
            var matches: [UInt64] = []
            /// The last entry to search; nil for the end of the log.
            var end: LogSequence?
            /// Whether there is an older result, which is shown until this search ends.
            var replacesResult = false
        }

        /// What a scan has found so far.
        struct Found {
            /// The sequences of a part of the matching entries.
            let sequences: [LogSequence]
            let count: Int
            /// The sequence up to which the log was searched.
            let searched: LogSequence
        }

        init(_ log: InspectedLog, _ words: [String], _ text: String?) throws {
            let filter = try EntryFilter(words: words)
            self.log = log
            self.text = text.map { SearchedText($0) }
            dependsOnEnd = filter.state != nil
            // The options are plain values. Only their wrappers are not Sendable.
            self.filter = {
                try EntryFilter(words: words).matcher(in: log.reader, log.projections[0].view)
            }
            content = Mutex(Content(next: log.reader.first))
        }

        /// Returns the matches from an index on.
        ///
        /// - Throws: the error that ended the scan.
        func found(from offset: Int, count: Int) throws -> Found {
            try content.withLock { content in
                if let failure = content.failure { throw failure }
                let matches = content.matches
                let piece = (min(offset, matches.count)..<matches.count).prefix(count)
                return Found(
                    sequences: matches[piece].map { LogSequence($0) }, count: matches.count,
                    searched: LogSequence(content.next.value - 1))
            }
        }

        /// Returns the number of matches before a sequence.
        func count(before sequence: LogSequence) -> Int {
            content.withLock { $0.matches.partitioningIndex { $0 >= sequence.value } }
        }

        /// Starts or continues the scan, if there is something left to search.
        func advance(_ background: Workers) {
            let last = (try? log.lastShown()) ?? 0
            let isStarting = content.withLock { content in
                guard !content.isRunning, !content.isDropped, content.failure == nil,
                    content.next <= last
                else { return false }
                content.isRunning = true
                return true
            }
            if isStarting { background.start { self.begin(background) } }
        }

        /// Ends the scan, because nobody asks for it any more.
        func drop() { content.withLock { $0.isDropped = true } }

        private func begin(_ background: Workers) {
            let (kept, hasResult) = content.withLock { content in
                defer { content.search = nil }
                return (content.search, content.next > log.reader.first)
            }
            do {
                if let kept { return piece(of: kept, background) }
                // The end comes first, so that the matcher knows the states up to it.
                let end = try log.lastShown()
                piece(
                    of: Search(
                        matcher: try filter(), next: log.reader.first,
                        end: dependsOnEnd ? end : nil,
                        replacesResult: hasResult), background)
            } catch { fail(error) }
        }

        /// Searches a bounded piece without the lock, and then publishes what it found.
        private func piece(of search: Search, _ background: Workers) {
            do {
                var next = search
                let isMore = try advance(&next)
                publish(&next, isLast: !isMore)
                let rest = next
                let goesOn = content.withLock { content in
                    content.isRunning = isMore && !content.isDropped
                    return content.isRunning
                }
                if goesOn { background.start { self.piece(of: rest, background) } }
            } catch { fail(error) }
        }

        private func publish(_ search: inout Search, isLast: Bool) {
            content.withLock { content in
                if search.replacesResult {
                    content.fresh += search.matches
                    search.matches = []
                    guard isLast else { return }
                    swap(&content.matches, &content.fresh)
                    content.fresh = []
                } else {
                    content.matches += search.matches
                    search.matches = []
                }
                content.next = search.next
                if isLast, !dependsOnEnd { content.search = search }
            }
        }

        private func fail(_ error: any Error) {
            content.withLock { content in
                content.failure = error
                content.isRunning = false
            }
        }

        /// Searches a bounded piece. Returns false at the end.
        private func advance(_ search: inout Search) throws -> Bool {
            let entries = try log.entries(from: search.next, countMax: InspectorLimits.pieceCount)
            for entry in entries {
                if let end = search.end, entry.sequence > end { return false }
                search.next = LogSequence(entry.sequence.value + 1)
                guard try search.matcher.matches(entry), text?.isIn(log.json(of: entry)) ?? true
                else {
                    continue
                }
                search.matches.append(entry.sequence.value)
            }
            return !entries.isEmpty
        }
    }

    /// A text that is searched for in the JSON of entries, in upper or lower case.
    struct SearchedText: Sendable {
        private let lower: String
        private let bytes: [UInt8]
        private let isASCII: Bool

        init(_ text: String) {
            lower = text.lowercased()
            bytes = Array(lower.utf8)
            isASCII = bytes.allSatisfy { $0 < 0x80 }
        }

        func isIn(_ json: JSON) -> Bool {
            let printed = json.printed
            // Most texts are ASCII, and bytes are compared much faster than characters.
            guard isASCII else {
                let text = String(decoding: printed, as: UTF8.self).lowercased()
                return text.utf8.firstRange(of: bytes) != nil
            }
            return printed.lazy.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
                .firstRange(of: bytes) != nil
        }
    }
#endif
