import Foldback

/// What an edition of an app can read. Editions have the same name, version and format, because they
/// differ only in the events that they know.
public protocol Edition: Sendable {
    /// 0 knows values and sums, 1 also claims and removals, 2 every move and both formats.
    static var level: Int { get }
}

public enum FirstEdition: Edition { public static let level = 0 }
public enum SecondEdition: Edition { public static let level = 1 }
public enum LastEdition: Edition { public static let level = 2 }

/// Reads the moves that an edition knows.
public struct EditionCodec<E: Edition>: EventCodec {
    public let format = MoveCodec().format
    /// The format of moves whose bytes are in reverse order.
    public static var backwards: EventFormat { EventFormat(codec: 201, version: 1) }

    public init() {}

    public func encode(_ move: Move) throws -> [UInt8] { try MoveCodec().encode(move) }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
        var move = bytes.withUnsafeBytes { Array($0) }
        if format == Self.backwards, E.level == 2 {
            move.reverse()
        } else if format != self.format {
            throw MoveConflict(reason: "unknown \(format)")
        }
        let read = try MoveCodec().decode(move.span.bytes, format: self.format)
        guard read.level <= E.level else { throw MoveConflict(reason: "unknown move") }
        return read
    }
}

extension Move {
    /// The first edition that knows the move.
    public var level: Int {
        switch self {
        case .set, .add: 0
        case .claim, .remove: 1
        case .replaceAll, .sweep: 2
        }
    }

    /// The move as a server may write it: with spaces that mean nothing.
    public var reformatted: RecordedEvent {
        get throws {
            let codec = MoveCodec()
            return RecordedEvent(
                format: codec.format, bytes: Array("  ".utf8) + (try codec.encode(self)))
        }
    }

    /// The move in a format that only the last edition reads.
    public var backwards: RecordedEvent {
        get throws {
            RecordedEvent(
                format: EditionCodec<LastEdition>.backwards,
                bytes: try MoveCodec().encode(self).reversed())
        }
    }

    /// The move as bytes in the format of every edition.
    public var recorded: RecordedEvent {
        get throws {
            RecordedEvent(format: MoveCodec().format, bytes: try MoveCodec().encode(self))
        }
    }
}

/// ``Board`` with the codec of an edition.
public struct EditionBoard<E: Edition>: Projection, Codable, Equatable {
    public var board = Board()

    public init() {}

    public static var name: String { "EditionBoard" }
    public static var codec: any EventCodec<Move> { EditionCodec<E>() }

    public mutating func apply(_ move: Move, _ context: EventContext) throws {
        try board.apply(move, context)
    }
}

/// ``RowBoard`` with the codec of an edition.
public struct EditionRows<E: Edition>: StoredProjection {
    public static var schema: RowSchema { RowBoard.schema }
    public static var name: String { "EditionRows" }
    public static var codec: any EventCodec<Move> { EditionCodec<E>() }

    public static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws { try RowBoard.apply(move, context, to: &rows) }
}
