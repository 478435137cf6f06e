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
    ) throws(FoldbackError) {
        let lacking = members(at: sequence).map(\.name).filter { !names.contains($0) }
        guard lacking.isEmpty else {
            throw .lacksProjections(path: path, names: lacking.map(\.string))
        }
    }
}

// MARK: Bytes

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
