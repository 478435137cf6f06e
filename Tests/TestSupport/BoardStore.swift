import Foldback

/// A board on a log, whatever keeps its state: ``Board`` or ``RowBoard``.
public protocol BoardFold: EventFold where Event == Move {
    /// What is seen of the last commit.
    static func seen(in store: Store<Self>) throws -> SeenBoard
}

/// A board at one sequence.
public struct SeenBoard: Sendable {
    public let sequence: LogSequence
    public let through: Position
    public let view: Board
    public let confirmed: Board
    public let pending: [IntentNumber]
    public let accepted: [IntentNumber]
    public let conflicted: [IntentNumber]
    public let faults: Int

    public init(_ snapshot: Snapshot<Board>) {
        sequence = snapshot.sequence
        through = snapshot.through
        view = snapshot.view
        confirmed = snapshot.confirmed
        pending = snapshot.pending
        accepted = snapshot.accepted
        conflicted = snapshot.conflicted
        faults = snapshot.faults.count
    }

    /// - Throws: where counts and indexes are not those of the cells.
    public init(_ rows: borrowing RowReader<RowBoard>) throws {
        let shown = try RowBoard.Shown(of: rows)
        (view, confirmed) = shown.boards
        sequence = rows.sequence
        through = rows.through
        pending = rows.pending
        accepted = rows.accepted
        conflicted = rows.conflicted
        faults = rows.faults.count
        if let difference = shown.difference(from: view, confirmed) {
            throw MoveConflict(reason: difference)
        }
    }
}

extension Board: BoardFold {
    public static func seen(in store: Store<Board>) -> SeenBoard { SeenBoard(store.snapshot) }
}

extension RowBoard: BoardFold {
    public static func seen(in store: Store<RowBoard>) throws -> SeenBoard {
        try store.read { try SeenBoard($0) }
    }
}

extension Store where P: BoardFold {
    public func seen() throws -> SeenBoard { try P.seen(in: self) }
}

/// What keeps a board's state.
public enum BoardKeeper: String, CaseIterable, Sendable {
    case memory
    case rows

    public var type: any BoardFold.Type {
        switch self {
        case .memory: Board.self
        case .rows: RowBoard.self
        }
    }
}
