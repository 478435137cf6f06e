#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackCollections
    import FoldbackHistory
    import Synchronization

    /// The last few branches that the page asked for.
    struct InspectorBranches {
        private var kept: [InspectorBranch] = []
        private var lastNumber = 0

        /// Keeps a branch and returns its id. The oldest branch goes if there are too many.
        mutating func keep(
            _ branch: SeenBranch, _ reader: LogReader, _ view: any ReplayedView
        ) -> String {
            lastNumber += 1
            kept.append(
                InspectorBranch(
                    id: "\(lastNumber)", log: reader, view: view,
                    sequences: branch.rows.compactMap(\.branch)))
            kept = kept.suffix(InspectorLimits.branchesMax)
            return "\(lastNumber)"
        }

        subscript(id: String) -> InspectorBranch? { kept.first { $0.id == id } }
    }

    /// A branch, with copies of a frame reader at some of its entries.
    final class InspectorBranch: Sendable {
        let id: String
        let log: LogReader
        let view: any ReplayedView
        /// The sequences of the entries, in order.
        private let sequences: [LogSequence]
        private let copies = Mutex<[any FrameReader]>([])

        init(id: String, log: LogReader, view: any ReplayedView, sequences: [LogSequence]) {
            self.id = id
            self.log = log
            self.view = view
            self.sequences = sequences
        }

        /// Returns the state after the last entry that is at or before a sequence.
        ///
        /// - Complexity: folds the entries from the nearest copy, and leaves copies on the way.
        func state(at sequence: LogSequence) throws -> JSON {
            let last = try log.lastSequence()
            guard sequence <= last else { throw LogError.beyondEnd(sequence, last: last) }
            let count = sequences.partitioningIndex { $0 > sequence }
            let target = count == 0 ? 0 : sequences[count - 1]
            var reader = try nearest(to: target) ?? view.frames(log, after: 0)
            let stride = max(sequences.count / InspectorLimits.branchCopiesMax, 256)
            var steps = 0
            while reader.sequence < target, try reader.skip() {
                steps += 1
                if steps.isMultiple(of: stride) { keep(reader) }
            }
            return reader.state
        }

        private func nearest(to target: LogSequence) -> (any FrameReader)? {
            copies.withLock { copies in
                let index = copies.partitioningIndex { $0.sequence > target }
                return index > 0 ? copies[index - 1] : nil
            }
        }

        private func keep(_ reader: any FrameReader) {
            copies.withLock { copies in
                let index = copies.partitioningIndex { $0.sequence >= reader.sequence }
                guard copies.count < InspectorLimits.branchCopiesMax,
                    index == copies.count || copies[index].sequence != reader.sequence
                else { return }
                copies.insert(reader, at: index)
            }
        }
    }

    extension InspectorAnswers {
        /// Makes a branch as `what-if` does, and keeps it.
        func branch(_ body: JSON) async throws -> JSON {
            let edits = try RawEdit.edits(body["edits"] ?? .null)
            let view = try log.projection(named: body["projection"]?.stringValue).view
            return try await long.run {
                let branch = try view.branched(self.log.reader, edits)
                let reader = try branch.log()
                let id = self.branches.withLock { $0.keep(branch, reader, view) }
                let rows = branch.shownRows
                let divergences = branch.divergences.entries
                return [
                    "id": .string(id), "leftOut": .of(branch.leftOut),
                    "inserted": .of(branch.inserted),
                    "renumbered": branch.renumbered(as: ("new", "old")),
                    "retryingNothing": .of(branch.retryingNothing),
                    "divergences": .array(
                        divergences.prefix(InspectorLimits.branchRowsMax).map(\.json)),
                    "divergenceCount": .integer(Int64(divergences.count)),
                    "end": branch.end.json,
                    "rows": .array(
                        branch.rows[rows].map { row in
                            var object = JSON.Object()
                            object["actual"] = row.actual.map { .of($0) }
                            object["branch"] = row.branch.map { .of($0) }
                            object["same"] = .bool(row.isSame)
                            return .object(object)
                        }),
                    "rowOffset": .integer(Int64(rows.lowerBound)),
                    "rowCount": .integer(Int64(branch.rows.count)),
                    "differs": .bool(!divergences.isEmpty),
                ]
            }
        }

        /// Returns an entry of a branch, and the branch's state after it.
        func branchState(_ query: InspectorQuery) async throws -> JSON {
            let id = try query.required("id")
            let sequence = try query.sequence("sequence")
            guard let branch = branches.withLock({ $0[id] }) else {
                throw InspectorError.unknown("branch \(id) is no longer kept; make it again")
            }
            return try await long.run {
                var object: JSON.Object = ["state": try branch.state(at: sequence)]
                let entry = try branch.log.entries(from: sequence, countMax: 1).first
                object["entry"] =
                    entry?.sequence == sequence ? entry.map { branch.view.json(of: $0) } : nil
                return .object(object)
            }
        }
    }

    extension SeenBranch {
        /// The rows that an answer has: all, or those around and after the first difference.
        fileprivate var shownRows: Range<Int> {
            let countMax = InspectorLimits.branchRowsMax
            guard rows.count > countMax else { return 0..<rows.count }
            let diverging = divergences.entries.first?.sequence ?? .init(UInt64.max)
            let first = rows.firstIndex { row in
                guard let actual = row.actual, row.branch != nil else { return true }
                return actual >= diverging
            }
            let start = min(max((first ?? 0) - countMax / 10, 0), rows.count - countMax)
            return start..<start + countMax
        }
    }

    extension RawEdit {
        /// Reads the edits of a request, in the order in which `what-if` applies its options.
        static func edits(_ json: JSON) throws -> [RawEdit] {
            guard let items = json.arrayValue, !items.isEmpty else {
                throw ValidationError("edits must be an array with at least one edit")
            }
            guard items.count <= InspectorLimits.editsMax else {
                throw ValidationError("there are at most \(InspectorLimits.editsMax) edits")
            }
            let edits = try items.map { try RawEdit($0) }
            var edited: Set<UInt64> = []
            var answered: Set<UInt64> = []
            for edit in edits {
                let isFirst =
                    switch edit {
                    case .edit(let number, _): edited.insert(number.value).inserted
                    case .reject(let number), .acknowledge(let number):
                        answered.insert(number.value).inserted
                    case .drop, .swap, .record: true
                    }
                guard isFirst else { throw ValidationError("two edits are about one intent") }
            }
            return (0...5).flatMap { rank in edits.filter { $0.rank == rank } }
        }

        private var rank: Int {
            switch self {
            case .drop: 0
            case .swap: 1
            case .edit: 2
            case .record: 3
            case .reject: 4
            case .acknowledge: 5
            }
        }

        private init(_ json: JSON) throws {
            func number(_ name: ExactString) throws -> UInt64? {
                guard let value = json[name] else { return nil }
                guard let number = value.unsignedValue else {
                    throw ValidationError("\(name) must be a number, not \(value)")
                }
                return number
            }
            func event() throws -> [UInt8] {
                guard let event = json["event"] else { throw ValidationError("event is missing") }
                return event.printed
            }
            if let sequence = try number("drop") {
                self = .drop(LogSequence(sequence))
            } else if let pair = json["swap"]?.arrayValue?.compactMap(\.unsignedValue) {
                guard pair.count == 2 else { throw ValidationError("swap takes two sequences") }
                self = .swap(LogSequence(pair[0]), LogSequence(pair[1]))
            } else if let intent = try number("edit") {
                self = .edit(IntentNumber(intent), try event())
            } else if let sequence = try number("insert") {
                self = .record(try event(), after: LogSequence(sequence))
            } else if let intent = try number("reject") {
                self = .reject(IntentNumber(intent))
            } else if let intent = try number("acknowledge") {
                self = .acknowledge(IntentNumber(intent))
            } else {
                throw ValidationError("\(json) is not an edit")
            }
        }
    }
#endif
