#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns the files of `export` for the entries up to a sequence. The lines of `ndjson`
        /// can be those of chosen entries.
        func export(_ query: InspectorQuery) async throws -> JSON {
            guard let form = ExportForm(rawValue: try query.required("as")), form != .page else {
                throw ValidationError("as must be ndjson, bundle or test")
            }
            let projection = try projection(query)
            let filter = try EntryFilter(words: query.filterWords)
            let search = query.text.map { SearchedText($0) }
            guard form == .ndjson || query.filterWords.isEmpty && search == nil else {
                throw ValidationError("a filter is only for as=ndjson: a state needs all entries")
            }
            let end = try query.number("to").map { LogSequence($0) }
            let matcher = try await short.run { [log] in
                try filter.matcher(in: log.reader, log.projections[0].view)
            }
            return try await long.run {
                let entries = try self.entries(matcher, search, upTo: end)
                return ["files": .files(try self.files(form, entries, projection))]
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
                    guard try matcher.matches(entry), search?.isIn(log.json(of: entry)) ?? true
                    else {
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
            _ form: ExportForm, _ entries: [LogEntry<[UInt8]>], _ projection: ReplayProjection
        ) throws -> [(name: String, bytes: [UInt8])] {
            let lines = "\(log.name).ndjson"
            guard form != .ndjson else { return [(lines, try log.reader.file(of: entries))] }
            let history = try log.reader.history(of: entries)
            var head = JSON.Object()
            if form == .bundle {
                let state = try projection.view.end(of: history)
                head = state.bundleHead(
                    tool: log.tool, projection: projection.name, try log.reader.status().json)
            }
            var text: [UInt8] = []
            try history.writeFile(head) { text += $0 }
            guard form == .test else { return [(lines, text)] }
            return try TestCase(
                name: log.name, history: String(decoding: text, as: UTF8.self),
                view: projection.view
            ).files()
        }
    }

    extension LogReader {
        /// Returns a file of some entries: the head, and a line for each entry.
        fileprivate func file(of entries: [LogEntry<[UInt8]>]) throws -> [UInt8] {
            let format = try firstFormat()
            return try entries.reduce(into: try fileHead(format).fileLine()) { file, entry in
                file += try entry.fileJSON(format).fileLine()
            }
        }
    }
#endif
