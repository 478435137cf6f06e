#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// The entries of a report: a range of sequences, and a filter.
    struct ReportSelection {
        let first: LogSequence
        /// Nil for the log's end.
        let last: LogSequence?
        let filter: EntryFilter

        /// The words of a command line that select the same; empty for a whole log.
        var words: [String] {
            (first > 1 ? ["--from", "\(first)"] : []) + (last.map { ["--to", "\($0)"] } ?? [])
                + filter.words
        }
    }

    /// The data of a report page. Everything that the page shows is folded in advance.
    ///
    /// A damaged log makes a report of the entries before the damage, which names the damage.
    struct PageReport {
        /// A browser holds the entries of a page in memory.
        static let entryCountMax = 50_000
        /// Bounds the time for what would have differed without intents: some 10 us a step.
        static let absenceStepsMax = 1_000_000

        private let log: InspectedLog
        private let selection: ReportSelection
        private let entries: [Chosen]

        private struct Chosen {
            let sequence: LogSequence
            /// The sequence of the entry before it in the log; 0 if there is none.
            let previous: LogSequence
            /// The intents that it records, answers or names.
            let intents: [IntentNumber]
            let json: JSON
        }

        init(_ log: InspectedLog, _ selection: ReportSelection) throws {
            self.log = log
            self.selection = selection
            var matcher = try selection.filter.matcher(in: log.reader, log.projections[0].view)
            let end = try log.reader.lastSequence()
            let last = min(selection.last ?? end, end)
            var found: [Chosen] = []
            var start = selection.first <= 1 ? log.reader.first : selection.first
            var previous = log.entry(notAfter: LogSequence(start.value - 1))
            while start <= last {
                let piece = try log.entries(from: start, countMax: 512)
                guard let next = piece.last?.sequence.next else { break }
                for entry in piece where entry.sequence <= last {
                    if try matcher.matches(entry) {
                        found.append(
                            Chosen(
                                sequence: entry.sequence, previous: previous,
                                intents: entry.intentNumbers + entry.origins.map(\.number),
                                json: log.json(of: entry)))
                    }
                    previous = entry.sequence
                }
                guard found.count <= Self.entryCountMax else {
                    throw ValidationError(
                        "a page has at most \(Self.entryCountMax) entries; choose with --from, --to or --kind, or use `\(log.tool) inspect`"
                    )
                }
                start = next
            }
            entries = found
        }

        /// What could not be read; nil if the log is sound as far as the report needs it.
        var damage: String? { log.knownDamage?.text }

        func write(_ write: @escaping ([UInt8]) throws -> Void) throws {
            let steps = UInt64(entries.count * log.projections.count)
            let ends = try ends()
            let decisions = try decisions()
            try Page.report(write) { blocks in
                var shownCount = entries.count
                try Progress.run("folding", of: steps) { progress in
                    for (index, projection) in log.projections.enumerated() {
                        let frames = try folded(projection, progress)
                        // Folding can find damage that reading did not find.
                        shownCount = min(shownCount, frames.count)
                        var block = frames.json(projection.name)
                        block["without"] = try absences(projection, ends ?? [:])
                        try blocks.object("projection-\(index)", block)
                    }
                }
                try blocks.array("entries") { add in
                    for entry in entries.prefix(shownCount) { try add(entry.json) }
                }
                try blocks.array("decisions") { add in for one in decisions { try add(one) } }
                // The head is last, because it names the damage.
                try blocks.object("head", try head(ends))
            }
        }

        // MARK: Folding

        /// Returns a projection's frames up to the first damage, and a state now and then.
        private func folded(
            _ projection: ReplayProjection, _ progress: Progress
        ) throws -> FoldedFrames {
            let start = entries.first?.previous ?? 0
            var frames = FoldedFrames()
            do {
                var reader = try projection.view.frames(log.reader, after: start)
                for entry in entries {
                    try frames.addNext(of: &reader, after: entry.previous)
                    progress.advance()
                }
                if entries.isEmpty { frames.addState(of: &reader) }
            } catch { guard log.note(error) else { throw error } }
            return frames
        }

        /// Returns what would have differed without each intent of the page that is rejected,
        /// withdrawn or conflicted at the end; nil if the log lacks its first entries, or is damaged, or
        /// the page ends before the log.
        private func absences(
            _ projection: ReplayProjection, _ ends: [IntentNumber: IntentState]
        ) throws -> JSON? {
            // The answers are about the whole log, also about its end.
            let isAtEnd = try selection.last.map { try $0 >= log.reader.lastSequence() } ?? true
            guard log.reader.first == 1, isAtEnd else { return nil }
            do {
                let end = try projection.view.openIntents(log.reader)
                let conflicted = Set(end.overlay.filter { $0.conflict != nil }.map(\.number))
                let wanted = ends.filter { number, state in
                    state == .rejected || state == .withdrawn || conflicted.contains(number)
                }.keys
                let found = try projection.view.divergences(log.reader, withoutEachOf: Set(wanted))
                var object = JSON.Object()
                for (number, divergences) in found.sorted(by: { $0.key < $1.key }) {
                    object[ExactString("\(number)")] = divergences.json(without: number)
                }
                return .object(object)
            } catch {
                guard log.note(error) else { throw error }
                return nil
            }
        }

        /// Returns the server's decisions that stand after one of the entries, or before the first.
        private func decisions() throws -> [JSON] {
            let all = try log.space?.decisions(beside: log.reader) ?? []
            let start = entries.first?.previous ?? 0
            let isToEnd = selection.last == nil
            return all.filter { decision in
                let after = decision.place.after
                return after >= start && (isToEnd || after <= entries.last?.sequence ?? 0)
            }.map(\.json)
        }

        // MARK: The head

        private func head(_ ends: [IntentNumber: IntentState]?) throws -> JSON.Object {
            var head = try log.head(try log.status())
            head["filters"] = .array(selection.words.map { .string($0) })
            if !log.isRedacted {
                head["verification"] = try log.projections[0].view.verification(log.reader)
                    .headJSON
            }
            head["plots"] = .object(try plots())
            head["ends"] = ends.map { ends in
                var object = JSON.Object()
                for (number, state) in ends.sorted(by: { $0.key < $1.key }) {
                    object[ExactString("\(number)")] = .string(state.rawValue)
                }
                return .object(object)
            }
            head["test"] = try test()
            guard let end = try end() else { return head }
            head["counts"] = [
                "conflicted": .integer(Int64(end.conflicted.count)),
                "faults": .integer(Int64(end.faults.count)),
            ]
            let status = head["status"]?.objectValue ?? [:]
            let bundle = end.bundleHead(
                tool: log.tool, projection: log.projections[0].name, status)
            head["bundle"] = bundle["bundle"]
            return head
        }

        /// Returns the states of the page's intents at the end of the log, by number; nil if the
        /// log is damaged.
        private func ends() throws -> [IntentNumber: IntentState]? {
            do {
                let state = try log.reader.states()
                var ends: [IntentNumber: IntentState] = [:]
                for number in Set(entries.flatMap(\.intents)) { ends[number] = try state(number) }
                return ends
            } catch {
                guard log.note(error) else { throw error }
                return nil
            }
        }

        /// Returns the state at the end of the log; nil if the log is damaged.
        private func end() throws -> SeenState? {
            do {
                return try log.projections[0].view.state(log.reader, at: try log.lastShown())
            } catch {
                guard log.note(error) else { throw error }
                return nil
            }
        }

        /// Returns the plots of the whole log. They show numbers only.
        private func plots() throws -> JSON.Object {
            let plots = try LogPlots(log.reader)
            var object = JSON.Object()
            for subject in PlotSubject.allCases {
                object[ExactString(subject.rawValue)] = .string(subject.svg(plots))
            }
            return object
        }

        /// Returns the source of a test that folds the history of the page.
        private func test() throws -> JSON? {
            guard let file = try? log.reader.fileHead(try log.reader.firstFormat()) else {
                return nil
            }
            let test = TestCase(
                name: log.name, history: "\(file)\n", view: log.projections[0].view)
            return ["name": .string(log.name), "source": .string(test.text)]
        }
    }

    extension Divergences {
        private static let placesMax = 8

        /// What a page shows: where the states differed, from when to when, and how the ends differ.
        fileprivate func json(without number: IntentNumber) -> JSON {
            func shown(_ differences: [JSONDifference]) -> JSON {
                [
                    "count": .integer(Int64(differences.count)),
                    "first": Array(differences.prefix(Self.placesMax)).json,
                ]
            }
            let places = Set(entries.flatMap { $0.view + $0.confirmed }.map(\.place)).sorted()
            var object: JSON.Object = [
                "places": .array(places.prefix(Self.placesMax).map { .string($0.description) }),
                "placeCount": .integer(Int64(places.count)), "view": shown(end.view),
                "confirmed": shown(end.confirmed),
                "conflicts": .array(end.conflicts.filter { $0 != number }.map { .of($0) }),
            ]
            object["from"] = entries.first.map { .of($0.sequence) }
            object["to"] = end.isNone ? entries.last.map { .of($0.sequence) } : nil
            return .object(object)
        }
    }

    /// The frames of some entries of a log in order, with states from which a reader can start.
    private struct FoldedFrames {
        private var states: [JSON] = []
        private var frames: [JSON] = []
        /// The bytes of patches since the last state, and the bytes of that state.
        private var bytes = (patches: 0, state: 0)
        private static let framesBetweenStatesMin = 64
        private var framesSinceState = 0

        var count: Int { frames.count }

        func json(_ name: String) -> JSON.Object {
            ["name": .string(name), "states": .array(states), "frames": .array(frames)]
        }

        /// Adds the present state, which is before the next frame.
        mutating func addState(of reader: inout any FrameReader) {
            let state = reader.state
            states.append(["before": .integer(Int64(frames.count)), "state": state])
            bytes = (0, state.printed.count)
            framesSinceState = 0
        }

        /// Adds the frame of the entry after `previous`. Entries before that are skipped.
        mutating func addNext(
            of reader: inout any FrameReader, after previous: LogSequence
        ) throws {
            let skipped = try skip(&reader, through: previous)
            // A page then applies at most as many bytes of patches as the state has. States make
            // the page at most twice as large.
            if states.isEmpty
                || bytes.patches > bytes.state && framesSinceState >= Self.framesBetweenStatesMin
            {
                addState(of: &reader)
            }
            guard let frame = try reader.nextFrame() else { return }
            var object: JSON.Object = ["patch": frame.patch.json]
            if frame.others != [] { object["others"] = frame.others }
            if let skipped, !frames.isEmpty { object["skipped"] = skipped.json }
            bytes.patches += object["patch"]?.printed.count ?? 0
            framesSinceState += 1
            frames.append(.object(object))
        }

        /// Applies the entries up to `previous`. Returns what they changed; nil if there are none.
        private func skip(
            _ reader: inout any FrameReader, through previous: LogSequence
        ) throws -> JSONPatch? {
            guard reader.sequence < previous else { return nil }
            let before = reader.state
            while reader.sequence < previous, try reader.skip() {}
            var patch = JSONPatch()
            patch.change(before, to: reader.state, at: JSONPointer([]), except: "sequence")
            return patch
        }
    }
#endif
