#if ReplayTool
    import Foldback
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
            var matcher: EntryMatcher?
            var matches: [UInt64] = []
            var next: LogSequence = 1
            /// The log's last sequence when the matcher was made.
            var madeAt: LogSequence = 0
            var isRunning = false
            var isDropped = false
            var failure: (any Error)?
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
            self.filter = { try EntryFilter(words: words).matcher(in: log.reader) }
            content = Mutex(Content())
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
                guard !content.isRunning, !content.isDropped, content.failure == nil else {
                    return false
                }
                if dependsOnEnd, content.matcher != nil, content.madeAt != last {
                    content = Content()
                }
                guard content.next <= last else { return false }
                content.isRunning = true
                return true
            }
            if isStarting { background.start { self.piece(background) } }
        }

        /// Ends the scan, because nobody asks for it any more.
        func drop() { content.withLock { $0.isDropped = true } }

        private func piece(_ background: Workers) {
            let isMore = content.withLock { content in
                do {
                    let isMore = try search(&content)
                    content.isRunning = isMore && !content.isDropped
                } catch {
                    content.failure = error
                    content.isRunning = false
                }
                return content.isRunning
            }
            if isMore { background.start { self.piece(background) } }
        }

        /// Searches a bounded piece. Returns false at the end of the log.
        private func search(_ content: inout Content) throws -> Bool {
            if content.matcher == nil {
                content.madeAt = try log.lastShown()
                content.matcher = try filter()
            }
            let entries = try log.entries(
                from: content.next, countMax: InspectorLimits.pieceCount)
            guard let last = entries.last else { return false }
            for entry in entries {
                guard try content.matcher?.matches(entry) ?? true, text?.isIn(entry.json) ?? true
                else { continue }
                content.matches.append(entry.sequence.value)
            }
            content.next = LogSequence(last.sequence.value + 1)
            return true
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
