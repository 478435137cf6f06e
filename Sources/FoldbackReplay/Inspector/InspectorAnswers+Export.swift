#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns the files of `export` for the entries that match a filter, up to a sequence.
        ///
        /// Entries that do not follow from the others are left out, because no command could read
        /// the file otherwise.
        func export(_ query: InspectorQuery) async throws -> JSON {
            guard let form = ExportForm(rawValue: try query.required("as")) else {
                throw ValidationError("as must be ndjson, bundle or test")
            }
            let projection = try projection(query)
            let filter = try EntryFilter(words: query.filterWords)
            let search = query.text.map { SearchedText($0) }
            let end = try query.number("to").map { LogSequence($0) }
            let matcher = try await short.run { [log] in try filter.matcher(in: log.reader) }
            return try await long.run {
                let entries = try self.entries(matcher, search, upTo: end)
                let history = try self.log.reader.history(of: entries)
                let files = try self.files(form, history, projection)
                return [
                    "files": .files(files),
                    "leftOut": .integer(Int64(entries.count - history.count)),
                ]
            }
        }

        private func entries(
            _ matcher: EntryMatcher, _ search: SearchedText?, upTo end: LogSequence?
        ) throws -> [LogEntry<[UInt8]>] {
            var matcher = matcher
            var found: [LogEntry<[UInt8]>] = []
            var start: LogSequence = 1
            let last = min(try log.lastShown(), end ?? .init(UInt64.max))
            while start <= last {
                let piece = try log.entries(from: start, countMax: InspectorLimits.pieceCount)
                guard let lastOfPiece = piece.last else { break }
                for entry in piece where entry.sequence <= last {
                    guard try matcher.matches(entry), search?.isIn(entry.json) ?? true else {
                        continue
                    }
                    found.append(entry)
                }
                guard found.count <= InspectorLimits.exportCountMax else {
                    throw ValidationError(
                        "more than \(InspectorLimits.exportCountMax) entries match; use a filter, or `\(log.tool) export`"
                    )
                }
                start = LogSequence(lastOfPiece.sequence.value + 1)
            }
            return found
        }

        private func files(
            _ form: ExportForm, _ history: RecordedHistory<[UInt8]>,
            _ projection: ReplayProjection
        ) throws -> [(name: String, bytes: [UInt8])] {
            var head = JSON.Object()
            if form == .bundle {
                let state = try projection.view.end(of: history)
                head = state.bundleHead(
                    tool: log.tool, projection: projection.name, try log.reader.status().json)
            }
            var text: [UInt8] = []
            try history.writeFile(head) { text += $0 }
            guard form == .test else { return [("\(log.name).ndjson", text)] }
            return try TestCase(
                name: log.name, history: String(decoding: text, as: UTF8.self),
                view: projection.view
            ).files()
        }
    }
#endif
