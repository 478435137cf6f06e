// Table `log`: the key is a name, the value is one fact about the whole log. The storage
// itself reads and writes the header (`LogHeader`).

extension Lineage: LogRow {
    package static let key = KeyBytes(Array("lineage".utf8))
    package static let rowName = "lineage"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        guard let lineage = Lineage(try reader.sizedString()) else {
            throw .damaged("it has no usable name")
        }
        self = lineage
    }

    package func writeFields(to writer: inout ByteWriter) { writer.sized(name.string) }
}

extension NotedDigest: LogRow {
    package static let key = KeyBytes(Array("digest".utf8))
    package static let rowName = "digest"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        let through = Position(try reader.variable())
        guard let digest = RunningDigest(try reader.sizedString()) else {
            throw .damaged("it has no usable text")
        }
        self.init(digest, at: through)
    }

    package func writeFields(to writer: inout ByteWriter) {
        writer.variable(through)
        writer.sized(digest.text.string)
    }
}

extension LostData: LogRow {
    package static let key = KeyBytes(Array("superseded".utf8))
    package static let rowName = "superseded"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        shared = Position(try reader.fixed(UInt64.self))
    }

    package func writeFields(to writer: inout ByteWriter) { writer.fixed(shared.value) }
}

extension SeenFaults: LogRow {
    package static let key = KeyBytes(Array("faults".utf8))
    package static let rowName = "seen faults"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        let through: LogSequence = try reader.number()
        let hasReasons = try reader.fixed(UInt8.self) != 0
        var reasons: Set<UInt64> = []
        if hasReasons {
            for _ in 0..<(try reader.variable()) { reasons.insert(try reader.fixed()) }
        }
        self.init(through: through, reasons: hasReasons ? reasons : nil)
    }

    package func writeFields(to writer: inout ByteWriter) {
        writer.variable(through)
        writer.fixed(UInt8(reasons == nil ? 0 : 1))
        guard let reasons else { return }
        writer.variable(UInt64(reasons.count))
        for reason in reasons.sorted() { writer.fixed(reason) }
    }
}

extension ContinuedIntents: LogRow {
    package static let key = KeyBytes(Array("continues".utf8))
    package static let rowName = "continued logs"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        self.init()
        for _ in 0..<(try reader.variable()) {
            guard let replica = ReplicaID(try reader.sizedString()) else {
                throw .damaged("it has an unusable replica id")
            }
            let first: IntentNumber = try reader.number()
            let next: IntentNumber = try reader.number()
            guard 1 <= first, first < next, !spans.contains(where: { $0.replica == replica })
            else { throw .damaged("its intents are out of order") }
            add(Span(replica: replica, first: first, next: next))
        }
        for _ in 0..<(try reader.variable()) {
            note(try id(&reader), againAs: try id(&reader))
        }
    }

    private func id(_ reader: inout ByteReader) throws(FormatError) -> IntentID {
        let place = try reader.variable()
        let number: IntentNumber = try reader.number()
        guard place < UInt64(spans.count) else {
            throw .damaged("it has an intent of no log")
        }
        let id = IntentID(replica: spans[Int(place)].replica, number: number)
        guard has(id) else { throw .damaged("it has an intent of no log") }
        return id
    }

    package func writeFields(to writer: inout ByteWriter) {
        writer.variable(UInt64(spans.count))
        for span in spans {
            writer.sized(span.replica.description)
            writer.variable(span.first)
            writer.variable(span.next)
        }
        let places = Dictionary(
            uniqueKeysWithValues: spans.enumerated().map { ($0.element.replica, $0.offset) })
        func place(_ id: IntentID) -> (place: Int, number: IntentNumber) {
            guard let place = places[id.replica] else {
                preconditionFailure("\(id) is an intent of no log")
            }
            return (place, id.number)
        }
        let pairs = laterIDs.flatMap { earlier, later in
            later.map { (earlier: place(earlier), later: place($0)) }
        }.sorted {
            ($0.earlier.place, $0.earlier.number, $0.later.place, $0.later.number)
                < ($1.earlier.place, $1.earlier.number, $1.later.place, $1.later.number)
        }
        writer.variable(UInt64(pairs.count))
        for pair in pairs {
            for id in [pair.earlier, pair.later] {
                writer.variable(UInt64(id.place))
                writer.variable(id.number)
            }
        }
    }
}

/// Which projections share their conflicts, and from which entry on: a note in the log (F9).
///
/// ```
///  entries     1 2 3 │ 4 5 6 7 │ 8 9 …
///  periods     none  │ A B     │ A B C      the views at entries 3 to 7 fold A and B together
/// ```
///
/// A view at a sequence uses the last period that begins at or before it. A period begins at the
/// last entry that the log had when the choice was made, because the store then shows the view at
/// this entry by the new choice.
package struct SharedConflicts: Hashable, Sendable {
    /// A projection that shares its conflicts with others. Its name identifies it.
    package struct Member: Hashable, Sendable {
        package let name: ExactString
        package let kind: RegisteredProjection.Kind

        package init(name: ExactString, kind: RegisteredProjection.Kind) {
            self.name = name
            self.kind = kind
        }
    }

    package struct Period: Hashable, Sendable {
        /// The first entry whose views the period concerns.
        package let start: LogSequence
        /// In the order in which they decide; empty if each projection has its own conflicts.
        package let members: [Member]

        package init(start: LogSequence, members: [Member]) {
            self.start = start
            self.members = members
        }
    }

    /// The starts rise. Before the first period, each projection has its own conflicts.
    package private(set) var periods: [Period] = []

    package init() {}

    package init(periods: [Period]) { self.periods = periods }

    package var isEmpty: Bool { periods.isEmpty }

    /// Returns the period of the view at an entry; nil before the first period.
    package func period(at sequence: LogSequence) -> Period? {
        periods.last { $0.start <= sequence }  // mutant: shared-period
    }

    /// Returns the projections that share their conflicts at an entry.
    package func members(at sequence: LogSequence) -> [Member] {
        period(at: sequence)?.members ?? []
    }

    /// Returns whether a period begins after one entry and at another entry or before it.
    package func changes(after first: LogSequence, upTo last: LogSequence) -> Bool {
        periods.contains { first < $0.start && $0.start <= last }
    }

    /// Adds a period that begins at an entry and has no end.
    package mutating func begin(_ members: [Member], at start: LogSequence) {
        periods.removeAll { $0.start >= start }
        guard !(members.isEmpty && periods.isEmpty) else { return }
        periods.append(Period(start: start, members: members))
    }

    /// Returns the same periods with other starts, as after entries got other sequences.
    ///
    /// - Parameter start: maps a start to the new start; must not fall.
    package func moved(_ start: (LogSequence) -> LogSequence) -> SharedConflicts {
        var moved = SharedConflicts()
        for period in periods { moved.begin(period.members, at: start(period.start)) }
        return moved
    }

    /// Throws if views at an entry need a projection that this code lacks.
    ///
    /// - Throws: `.lacksProjections` with the names.
    package func require(
        _ names: Set<ExactString>, at sequence: LogSequence, path: String
    ) throws(LogError) {
        let lacking = members(at: sequence).map(\.name).filter { !names.contains($0) }
        guard lacking.isEmpty else {
            throw .lacksProjections(path: path, names: lacking.map(\.string))
        }
    }
}

extension SharedConflicts: LogRow {
    package static let key = KeyBytes(Array("conflicts".utf8))
    package static let rowName = "shared conflicts"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        for _ in 0..<(try reader.variable()) {
            let start: LogSequence = try reader.number()
            if let last = periods.last, last.start >= start {
                throw .damaged("its periods are out of order")
            }
            var members: [Member] = []
            for _ in 0..<(try reader.variable()) {
                let code = try reader.fixed(UInt8.self)
                guard let kind = RegisteredProjection.Kind(rawValue: code) else {
                    throw .newer("kind of projection \(code)")
                }
                members.append(Member(name: ExactString(try reader.sizedString()), kind: kind))
            }
            periods.append(Period(start: start, members: members))
        }
    }

    package func writeFields(to writer: inout ByteWriter) {
        writer.variable(UInt64(periods.count))
        for period in periods {
            writer.variable(period.start)
            writer.variable(UInt64(period.members.count))
            for member in period.members {
                writer.fixed(member.kind.rawValue)
                writer.sized(member.name.string)
            }
        }
    }
}

// MARK: Read

extension LogStorage {
    /// Returns a value that has a row of its own in table `log`; nil if the log lacks the row.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    func row<Row: LogRow>(of _: Row.Type) throws(LogError) -> Row? {
        let found = try reading(.log) { table throws(LogError) in
            try table.get(.bytes(Row.key))?.array
        }
        guard let found else { return nil }
        do throws(FormatError) { return try Row(decoding: found) } catch {
            let name = String(decoding: Row.key.bytes, as: UTF8.self)
            throw LogError(error, at: "\(path), table log, \(name)", sequence: nil)
        }
    }

    /// Returns the lineage of the authority that the log has answers from; nil if none was named
    /// yet.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lineage() throws(LogError) -> Lineage? { try row(of: Lineage.self) }

    /// Returns the newest digest that the authority named, with its position; nil if it named none.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func digest() throws(LogError) -> NotedDigest? { try row(of: NotedDigest.self) }

    /// Returns the finding that the authority has lost events; nil if it was not made.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lostData() throws(LogError) -> LostData? { try row(of: LostData.self) }

    /// Returns which faults a person has seen; nil if none were marked.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func seenFaults() throws(LogError) -> SeenFaults? { try row(of: SeenFaults.self) }

    /// Returns the intents of the logs that this log continues.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func continuedIntents() throws(LogError) -> ContinuedIntents {
        try row(of: ContinuedIntents.self) ?? ContinuedIntents()
    }

    /// Returns which projections share their conflicts, and from which entry on.
    ///
    /// - Throws: `.damaged`, `.newerFormat`; `.closed`, `.storage`.
    package func sharedConflicts() throws(LogError) -> SharedConflicts {
        try row(of: SharedConflicts.self) ?? SharedConflicts()
    }
}

// MARK: Write

extension WriteBatch {
    package mutating func writeLineage(_ lineage: Lineage) { self.lineage = lineage }

    /// - Parameter digest: nil removes the row.
    package mutating func writeDigest(_ digest: NotedDigest?) { self.digest = .some(digest) }

    /// - Parameter lostData: nil removes the finding.
    package mutating func writeLostData(_ lostData: LostData?) { self.lostData = .some(lostData) }

    package mutating func writeSeenFaults(_ seen: SeenFaults) { seenFaults = seen }

    package mutating func writeContinued(_ continued: ContinuedIntents) {
        self.continued = continued
    }

    package mutating func writeSharedConflicts(_ shared: SharedConflicts) {
        sharedConflicts = shared
    }
}

extension LogStorage {
    /// Writes the choice of the store that opens the log, in a transaction of its own. Does nothing
    /// if the log has it.
    ///
    /// If the disk is full, the log keeps the choice that it has, and the next opening writes it.
    ///
    /// - Parameters:
    ///   - old: what the log has.
    ///   - new: what the store wants.
    ///   - names: the projections of the store.
    /// - Returns: what the log has now.
    /// - Throws: `.storage`, also on a full disk if the store lacks a projection for `old`.
    package func note(
        _ new: SharedConflicts, insteadOf old: SharedConflicts, at last: LogSequence,
        names: Set<ExactString>
    ) throws(LogError) -> SharedConflicts {
        guard new != old else { return old }
        var batch = WriteBatch()
        batch.writeSharedConflicts(new)
        do throws(StorageFailure) { try write(batch) } catch {
            switch error.reason {
            case .diskFull, .fileSizeLimit:
                let lacks = old.members(at: last).contains { !names.contains($0.name) }
                guard lacks else { return old }
                throw error.unwritten
            default: throw error.unwritten
            }
        }
        return new
    }
}
