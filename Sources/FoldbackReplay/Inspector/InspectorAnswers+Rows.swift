#if ReplayTool
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns a window of the entries that match a filter. It has fewer entries if they are large.
        func rows(_ query: InspectorQuery) async throws -> JSON {
            let offset = Int(clamping: try query.number("offset") ?? 0)
            let count = try query.count("count", atMost: InspectorLimits.rowCountMax)
            let index = index(of: try projection(query))
            guard query.isFiltering else {
                return try await short.run { try self.allRows(offset, count, index) }
            }
            let scan = try scan(query)
            try await waiting(for: InspectorLimits.scanWaitMax) { [log] in
                let found = try scan.found(from: offset, count: count)
                let last = try log.lastShown()
                return found.sequences.count == count || found.searched >= last
            }
            return try await short.run {
                let found = try scan.found(from: offset, count: count)
                var entries: [LogEntry<[UInt8]>] = []
                var bytes = 0
                for sequence in found.sequences where bytes < InspectorLimits.answerBytesMax {
                    guard let entry = try self.log.entries(from: sequence, countMax: 1).first
                    else { continue }
                    entries.append(entry)
                    bytes += entry.eventBytes
                }
                let isWhole = found.searched >= (try self.log.lastShown())
                return self.json(entries, index, of: found.count, isWhole: isWhole)
            }
        }

        private func allRows(_ offset: Int, _ count: Int, _ index: FrameIndex) throws -> JSON {
            var total = log.count(upTo: try log.lastShown())
            var entries: [LogEntry<[UInt8]>] = []
            if offset < total, count > 0, let start = log.sequence(at: offset) {
                // Also fewer entries, because a read is bounded in bytes.
                entries = try log.entries(from: start, countMax: min(count, total - offset))
                // Damage that was found just now ends the rows earlier.
                total = min(total, log.count(upTo: try log.lastShown()))
            }
            return json(entries, index, of: total, isWhole: true)
        }

        private func json(
            _ entries: [LogEntry<[UInt8]>], _ index: FrameIndex, of count: Int, isWhole: Bool
        ) -> JSON {
            let rows = entries.map { entry -> JSON in
                var row: JSON.Object = ["entry": log.json(of: entry)]
                let place = log.count(upTo: entry.sequence) - 1
                row["changes"] = index.changes(of: place..<place + 1).first
                    .map { .integer(Int64($0)) }
                return .object(row)
            }
            return [
                "count": .integer(Int64(count)), "isWhole": .bool(isWhole), "rows": .array(rows),
            ]
        }

        /// Returns the index of the first matching entry at or after a sequence.
        func place(_ query: InspectorQuery) async throws -> JSON {
            let sequence = try query.sequence("sequence")
            let before = LogSequence(max(sequence.value, 1) - 1)
            guard query.isFiltering else {
                return try await short.run { [log] in
                    let last = try log.lastShown()
                    return ["offset": .integer(Int64(log.count(upTo: min(before, last))))]
                }
            }
            let scan = try scan(query)
            try await waiting(for: InspectorLimits.placeWaitMax) { [log] in
                let searched = try scan.found(from: 0, count: 0).searched
                return searched >= min(before, try log.lastShown())
            }
            return ["offset": .integer(Int64(scan.count(before: sequence)))]
        }

        /// Waits until a condition holds, but not for longer than `longest`.
        private func waiting(
            for longest: Duration, until isMet: @escaping @Sendable () throws -> Bool
        ) async throws {
            let clock = ContinuousClock()
            let end = clock.now + longest
            while try await !short.run(isMet), clock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    extension LogEntry where Event == [UInt8] {
        /// The bytes of the entry's events.
        fileprivate var eventBytes: Int { events.reduce(0) { $0 + $1.bytes.count } }
    }

    extension InspectorQuery {
        fileprivate var isFiltering: Bool { !filterWords.isEmpty || text != nil }
    }
#endif
