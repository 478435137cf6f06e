#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct Step<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "step",
                abstract:
                    "Steps through a log: each entry, what it changed, and the overlay.",
                discussion: """
                    Press return after each key: n or nothing for the next entry, p for the \
                    previous entry, a number to jump to that entry, g for the start, e for the \
                    end, space to play to the end, q to quit. Without a terminal, the same keys \
                    are read from standard input.

                    Example: \(Tool.name) step feed.log
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "The sequence to start at; before the first entry by default.")
        var from: UInt64?

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "One JSON object for each screen.")
        var json = false

        func validate() throws {
            guard log.path != "-" else {
                throw ValidationError("standard input is for keys; give a log or a file")
            }
        }

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            var last = try reader.lastSequence().value
            // A compacted log begins at its base.
            let start = reader.first.value - 1
            var place = from ?? start
            guard place <= last else {
                throw LogError.beyondEnd(LogSequence(place), last: LogSequence(last))
            }
            try show(place, reader, view, of: last)
            var lines = InputLines()
            while let line = try lines.next() {
                guard case .whole(let bytes) = line else {
                    Output.note("the line is too long for keys")
                    continue
                }
                let keys = String(decoding: bytes, as: UTF8.self)
                var hint: String?
                // A store may have appended entries since the last key.
                last = try reader.lastSequence().value
                switch keys.trimmingCharacters(in: .newlines) {
                case "", "n":
                    let next = try next(place, reader)
                    hint = next == nil ? "entry \(last) is the last" : nil
                    place = next ?? place
                case "p":
                    hint = place == start ? "there is nothing before the first entry" : nil
                    place = try previous(place, reader)
                case "g": place = start
                case "e": place = last
                case " ":
                    while let next = try next(place, reader) {
                        place = next
                        last = max(last, next)
                        try show(place, reader, view, of: last)
                        Thread.sleep(forTimeInterval: 0.3)
                    }
                    continue
                case "q": return
                case let text:
                    guard let number = UInt64(text.trimmingCharacters(in: .whitespaces)) else {
                        Output.note("use n, p, g, e, space, q, or a number up to \(last)")
                        continue
                    }
                    guard start...last ~= number else {
                        Output.note(
                            number < start
                                ? "the entries up to \(start) were removed"
                                : "entry \(number) does not exist; the last is \(last)")
                        continue
                    }
                    place = number
                }
                try show(place, reader, view, of: last)
                // The screen comes first, because it would clear the hint.
                if let hint { Output.note(hint) }
            }
        }

        /// Returns the next entry; nil after the last. A file may have gaps.
        private func next(_ place: UInt64, _ reader: LogReader) throws -> UInt64? {
            try reader.entries(from: LogSequence(place + 1), countMax: 1).first?.sequence.value
        }

        /// Returns the previous entry, or the place before the first if there is none. The search goes back in steps that
        /// double, because a file may have wide gaps.
        private func previous(_ place: UInt64, _ reader: LogReader) throws -> UInt64 {
            let first = reader.first.value
            var start = place
            while start > first {
                start -= min(place - start + 1, start - first)
                var found = start - 1
                while let next = try next(found, reader), next < place { found = next }
                if found >= start { return found }
            }
            return first - 1
        }

        /// Returns the entry at a sequence; nil if there is none.
        private func entry(_ place: UInt64, _ reader: LogReader) throws -> LogEntry<[UInt8]>? {
            guard place >= reader.first.value else { return nil }
            let entry = try reader.entries(from: LogSequence(place), countMax: 1).first
            return entry?.sequence.value == place ? entry : nil
        }

        private func title(
            _ place: UInt64, _ entry: LogEntry<[UInt8]>?, _ reader: LogReader,
            _ view: any ReplayedView, of last: UInt64
        ) -> String {
            guard place >= reader.first.value else {
                let start =
                    place == 0
                    ? "before the first entry" : "at entry \(place), where the log begins"
                return "\(start), and the last is \(last)"
            }
            let number = "entry \(place), and the last is \(last)"
            guard let entry else { return "\(number) is not in this file" }
            return "\(Ink.dim("\(number)  \(entry.time.text)"))  \(view.words(of: entry))"
        }

        private func show(
            _ place: UInt64, _ reader: LogReader, _ view: any ReplayedView, of last: UInt64
        ) throws {
            let state = try view.state(reader, at: LogSequence(place))
            let before =
                place >= reader.first.value
                ? try view.state(reader, at: LogSequence(place - 1)) : nil
            let entry = try entry(place, reader)
            let changes = before?.view.differences(to: state.view) ?? []
            if json {
                var object: JSON.Object = ["changes": changes.json, "state": state.json]
                object["entry"] = entry.map { view.json(of: $0) }
                return try Output.line(JSON.object(object))
            }
            // Clears the screen of a terminal.
            if Output.isColored { try Output.write("\u{1B}[2J\u{1B}[H") }
            try Output.line(title(place, entry, reader, view, of: last))
            for line in changes.lines(indented: "         ") { try Output.line(line) }
            func numbers(_ what: String, _ numbers: [IntentNumber]) -> String {
                "\(what) \(numbers.isEmpty ? "none" : numbers.map { "\($0)" }.joined(separator: " "))"
            }
            try Output.line(
                Ink.dim(
                    [
                        numbers("pending", state.pending), numbers("accepted", state.accepted),
                        numbers("conflicted", state.conflicted.map(\.number)),
                    ].joined(separator: "  ")))
            guard Output.width != nil else { return }
            try Output.line(
                Ink.dim(
                    "Return: next  p: previous  41: entry 41  g: start  e: end  space: play  q: quit"
                ))
        }
    }
#endif
