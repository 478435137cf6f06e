import Foldback

/// ``Board`` as rows, with indexes and a second table that connects cells with each other.
public struct RowBoard: StoredProjection {
    public static let cells = RowTable("cells", key: String.self, row: Int.self)
    /// The number of cells by value modulo 11: it connects few cells.
    public static let counts = RowTable("counts", key: Int.self, row: Int.self)
    public static let byValue = cells.index("by value") { _, value in value }
    /// An index of some rows, and of some rows twice.
    public static let odd = cells.index("odd") { key, value in
        value % 2 == 0 ? [] : value % 3 == 0 ? [key, "three"] : [key]
    }
    public static let schema = RowSchema(cells, counts, byValue, odd)
    public static var codec: any EventCodec<Move> { MoveCodec() }

    public static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch move {
        case .set(let key, let value): try set(key, value, &rows)
        case .add(let key, let amount):
            guard let old = try rows.get(key, in: cells) else {
                throw MoveConflict(reason: "\(key) is absent")
            }
            try set(key, old + amount, &rows)
        case .claim(let key):
            // It throws late on purpose: earlier changes must be dropped.
            let old = try rows.get(key, in: cells)
            try set(key, context.id().utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 9_973 }, &rows)
            if old != nil { throw MoveConflict(reason: "\(key) is taken") }
        case .remove(let key): try set(key, nil, &rows)
        case .replaceAll(let all):
            for key in try rows.keys(of: cells) { try set(key, nil, &rows) }
            for (key, value) in all { try set(key, value, &rows) }
        case .sweep(let first, let last):
            // Reading the range must include these changes.
            try set(last, nil, &rows)
            try set(first, 0, &rows)
            let range = RowRange.keys(from: first, through: last)
            let swept = try rows.keys(in: range, of: cells)
            for key in swept { try count(try rows.get(key, in: cells), by: -1, &rows) }
            try rows.removeAll(in: range, from: cells)
            if swept.count < 2 { throw MoveConflict(reason: "nothing to sweep") }
            try set(first, swept.count, &rows)
        }
    }

    private static func set(_ key: String, _ value: Int?, _ rows: inout TouchedRows) throws {
        try count(try rows.get(key, in: cells), by: -1, &rows)
        try count(value, by: 1, &rows)
        if let value {
            try rows.put(value, at: key, in: cells)
        } else {
            try rows.remove(key, from: cells)
        }
    }

    private static func count(_ value: Int?, by one: Int, _ rows: inout TouchedRows) throws {
        guard let value else { return }
        try rows.update(value % 11, in: counts, default: 0) { $0 += one }
    }

    /// Everything that rows show at one sequence.
    public struct Shown: Sendable {
        public let sequence: LogSequence
        public let conflicted: [IntentNumber]
        private let view: Rows
        private let confirmed: Rows

        public init(of reader: borrowing RowReader<RowBoard>) throws {
            sequence = reader.sequence
            conflicted = reader.conflicted
            view = try Rows(reader)
            confirmed = try reader.confirmed { try Rows($0) }
        }

        /// The cells, without counts and indexes.
        public var boards: (view: Board, confirmed: Board) { (view.board, confirmed.board) }

        /// Nil if rows, counts and indexes match the boards.
        public func difference(from view: Board, _ confirmed: Board) -> String? {
            self.view.difference(from: view.cells).map { "the view has \($0)" }
                ?? self.confirmed.difference(from: confirmed.cells).map { "confirmed has \($0)" }
        }
    }

    private struct Rows: Sendable {
        let cells: [RowEntry<String, Int>]
        let backwards: [RowEntry<String, Int>]
        let counts: [Int: Int]
        let byValue: [IndexedRow<Int, String, Int>]
        let odd: [IndexedRow<String, String, Int>]

        init(_ reader: borrowing RowReader<RowBoard>) throws {
            cells = try reader.page(of: RowBoard.cells, limit: .max)
            backwards = try reader.page(of: RowBoard.cells, order: .descending, limit: .max)
            let all = try reader.page(of: RowBoard.counts, limit: .max)
            counts = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0.row) })
            byValue = try reader.page(of: RowBoard.byValue, limit: .max)
            odd = try reader.page(of: RowBoard.odd, limit: .max)
        }

        var board: Board {
            var board = Board()
            for cell in cells { board.cells[cell.key] = cell.row }
            return board
        }

        func difference(from expected: [String: Int]) -> String? {
            let sorted = expected.sorted {
                Array($0.key.utf8).lexicographicallyPrecedes($1.key.utf8)
            }
            guard cells.map(\.key) == sorted.map(\.key), cells.map(\.row) == sorted.map(\.value)
            else { return "\(cells), not \(expected)" }
            guard backwards == cells.reversed() else { return "backwards \(backwards)" }
            var counted: [Int: Int] = [:]
            for value in expected.values { counted[value % 11, default: 0] += 1 }
            guard counts.filter({ $0.value != 0 }) == counted else {
                return "counts \(counts), not \(counted)"
            }
            let values = sorted.map { ($0.value, $0.key) }.sorted { $0 < $1 }
            guard byValue.map(\.indexKey) == values.map(\.0),
                byValue.map(\.key) == values.map(\.1), byValue.map(\.row) == values.map(\.0)
            else { return "index \(byValue), not \(values)" }
            let odds = sorted.filter { $0.value % 2 != 0 }
            let places =
                odds.map { ($0.key, $0.key) }
                + odds.filter { $0.value % 3 == 0 }.map { ("three", $0.key) }
            guard odd.map(\.indexKey) == places.sorted(by: <).map(\.0),
                odd.map(\.key) == places.sorted(by: <).map(\.1)
            else { return "partial index \(odd), not \(places)" }
            return nil
        }
    }
}
