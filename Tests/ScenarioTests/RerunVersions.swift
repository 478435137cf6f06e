import Foldback
import FoldbackHistory
import TestSupport

/// What a version of ``Cells`` makes of a move.
protocol CellRule: Sendable {
    static var codec: any EventCodec<Move> { get }
    /// Changes cells as this version does.
    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws
}

extension CellRule {
    static var codec: any EventCodec<Move> { MoveCodec() }
}

/// As ``Board``.
enum PlainRule: CellRule {
    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws {
        try board.apply(move, context)
    }
}

/// Sets cells to a higher number if it can be divided by three. The next move of the cell often
/// ends the difference.
enum RaisingRule: CellRule {
    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws {
        guard case .set(let key, let value) = move, value % 3 == 0 else {
            return try board.apply(move, context)
        }
        try board.apply(.set(key, value + 1), context)
    }
}

/// Refuses even numbers, so intents are conflicted and confirmed events are faults.
enum RefusingRule: CellRule {
    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws {
        if case .set(_, let value) = move, value % 2 == 0 { throw MoveConflict(reason: "even") }
        try board.apply(move, context)
    }
}

/// Ignores the moves of one cell.
enum IgnoringRule: CellRule {
    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws {
        switch move {
        case .set("a", _), .add("a", _), .remove("a"): break
        case .set, .add, .remove, .claim, .replaceAll, .sweep: try board.apply(move, context)
        }
    }
}

/// Cannot read some events.
enum ShortSightedRule: CellRule {
    static var codec: any EventCodec<Move> { ShortSightedCodec() }

    static func apply(_ move: Move, _ context: EventContext, to board: inout Board) throws {
        try board.apply(move, context)
    }
}

/// Cells under a rule, with parts. Moves of many cells name no keys.
struct Cells<Rule: CellRule>: TraceableProjection {
    private(set) var cells: [String: Int] = [:]

    static var name: String { Board.name }
    static var codec: any EventCodec<Move> { Rule.codec }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        cells = try CellMoves.applied(move, context, to: cells, Rule.self)
    }

    static func keys(touchedBy move: Move, _ context: EventContext) -> [String] {
        CellMoves.key(of: move).map { [$0] } ?? []
    }

    func part(at key: String) -> Int? { cells[key] }
}

/// The same with places.
struct PlacedCells<Rule: CellRule>: TraceableProjection {
    private(set) var cells: [String: Int] = [:]

    static var name: String { Board.name }
    static var codec: any EventCodec<Move> { Rule.codec }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        cells = try CellMoves.applied(move, context, to: cells, Rule.self)
    }

    static func keys(touchedBy move: Move, _ context: EventContext) -> [String] {
        CellMoves.key(of: move).map { [$0] } ?? []
    }

    static func places(touchedBy move: Move, _ context: EventContext) -> [JSONPointer]? {
        CellMoves.key(of: move).map { [JSONPointer(["cells", ExactString($0)])] }
    }

    func part(at key: String) -> Int? { cells[key] }
}

/// A version with a type of events of its own, as if its events were renamed.
struct Renamed<Version: TraceableProjection>: TraceableProjection, CustomReflectable
where Version.Event == Move {
    struct Event: Sendable {
        let move: Move
    }

    private struct Codec: EventCodec {
        var format: EventFormat { Version.codec.format }
        func encode(_ event: Event) throws -> [UInt8] { try Version.codec.encode(event.move) }
        func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event {
            Event(move: try Version.codec.decode(bytes, format: format))
        }
    }

    private var version = Version()

    static var name: String { Version.name }
    static var codec: any EventCodec<Event> { Codec() }
    var customMirror: Mirror { Mirror(reflecting: version) }

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        try version.apply(event.move, context)
    }

    static func keys(touchedBy event: Event, _ context: EventContext) -> [Version.Key] {
        Version.keys(touchedBy: event.move, context)
    }

    func part(at key: Version.Key) -> Version.Part? { version.part(at: key) }
}

enum CellMoves {
    static func applied<Rule: CellRule>(
        _ move: Move, _ context: EventContext, to cells: [String: Int], _: Rule.Type
    ) throws -> [String: Int] {
        var board = Board()
        board.cells = cells
        try Rule.apply(move, context, to: &board)
        return board.cells
    }

    /// The only cell that a move changes; nil if it changes many.
    static func key(of move: Move) -> String? {
        switch move {
        case .set(let key, _), .add(let key, _), .claim(let key), .remove(let key): key
        case .replaceAll, .sweep: nil
        }
    }
}

/// Cells with their sum, which the parts do not show.
struct SummedCells<Rule: CellRule>: TraceableProjection {
    private(set) var cells: [String: Int] = [:]
    private(set) var sum = 0

    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        cells = try CellMoves.applied(move, context, to: cells, PlainRule.self)
        let seen = try CellMoves.applied(move, context, to: [:], Rule.self)
        sum += seen.values.reduce(0, +)
    }

    static func keys(touchedBy move: Move, _ context: EventContext) -> [String] {
        CellMoves.key(of: move).map { [$0] } ?? []
    }

    func part(at key: String) -> Int? { cells[key] }
}
