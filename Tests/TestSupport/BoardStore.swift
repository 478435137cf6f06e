import Foldback

/// A board on a log, whatever keeps its state: ``Board`` or ``RowBoard``.
public protocol BoardFold: EventFold where Event == Move {
    /// All that is seen of the last commit.
    static func seen(in store: Store<Self>) throws -> SeenBoard
}

/// A board at one sequence.
public struct SeenBoard: Sendable {
    public var sequence: LogSequence
    public var through: Position
    public var view: Board
    public var confirmed: Board
    public var pending: [IntentNumber]
    public var accepted: [IntentNumber]
    public var conflicted: [IntentNumber]
}

extension SeenBoard {
    public init(_ snapshot: Snapshot<Board>) {
        self.init(
            sequence: snapshot.sequence, through: snapshot.through, view: snapshot.view,
            confirmed: snapshot.confirmed, pending: snapshot.pending, accepted: snapshot.accepted,
            conflicted: snapshot.conflicted)
    }
}

extension Board: BoardFold {
    public static func seen(in store: Store<Board>) -> SeenBoard { SeenBoard(store.snapshot) }
}

extension RowBoard: BoardFold {
    public static func seen(in store: Store<RowBoard>) throws -> SeenBoard {
        try store.read { reader in
            let shown = try Shown(of: reader)
            let seen = SeenBoard(
                sequence: reader.sequence, through: reader.through, view: shown.viewBoard,
                confirmed: shown.confirmedBoard, pending: reader.pending,
                accepted: reader.accepted, conflicted: reader.conflicted)
            // Counts and indexes are those of the cells.
            if let difference = shown.difference(from: seen.view, seen.confirmed) {
                throw MoveConflict(reason: difference)
            }
            return seen
        }
    }
}

/// A store of a board without its type, so that one test drives either.
public protocol BoardStore: Sendable {
    func seen() throws -> SeenBoard

    var overlay: [OverlayIntent<Move>] { get }
    var rejections: [IntentNumber] { get }
    var seenFaults: [Fault] { get }
    var status: StoreStatus { get }
    func intent(_ number: IntentNumber) throws(FoldbackError) -> IntentStatus<Move>
    func receipt(for number: IntentNumber) throws(FoldbackError) -> Receipt
    func answers(after sequence: LogSequence) -> Answers
    func projected<Q: Projection>(_ projection: Q.Type) -> Projected<Q> where Q.Event == Move
    func snapshot<Q: Projection>(
        of projection: Q.Type, at sequence: LogSequence
    ) async throws(FoldbackError) -> Snapshot<Q> where Q.Event == Move
    func carryOut(_ command: BoardCommand) async throws(FoldbackError) -> BoardOutcome
    func verify() async throws(FoldbackError) -> Verification
    func close() async
}

extension Store: BoardStore where P: BoardFold {
    public func seen() throws -> SeenBoard { try P.seen(in: self) }
}
