import Foldback
import Foundation

/// A board on a log, with state in memory (``Board``) or in rows (``RowBoard``).
public protocol BoardFold: EventFold where Event == Move {
    /// The board after the last commit.
    static func seen(in store: Store<Self>) throws -> SeenBoard
    /// The board at a past sequence.
    static func seen(in store: Store<Self>, at sequence: LogSequence) async throws -> SeenBoard
}

/// A board at one sequence.
public struct SeenBoard: Equatable, Sendable {
    public let sequence: LogSequence
    public let through: Position
    public let view: Board
    public let confirmed: Board
    public let pending: [IntentNumber]
    public let accepted: [IntentNumber]
    public let conflicted: [IntentNumber]
    public let faults: [Fault]

    public init(_ snapshot: Snapshot<Board>) {
        sequence = snapshot.sequence
        through = snapshot.through
        view = snapshot.view
        confirmed = snapshot.confirmed
        pending = snapshot.pending
        accepted = snapshot.accepted
        conflicted = snapshot.conflicted
        faults = snapshot.faults
    }

    /// - Throws: ``MoveConflict`` if counts or indexes do not match the cells.
    public init(_ rows: borrowing RowReader<RowBoard>) throws {
        let shown = try RowBoard.Shown(of: rows)
        (view, confirmed) = shown.boards
        sequence = rows.sequence
        through = rows.through
        pending = rows.pending
        accepted = rows.accepted
        conflicted = rows.conflicted
        faults = rows.faults
        if let difference = shown.difference(from: view, confirmed) {
            throw MoveConflict(reason: difference)
        }
    }
}

extension Board: BoardFold {
    public static func seen(in store: Store<Board>) -> SeenBoard { SeenBoard(store.snapshot) }

    public static func seen(
        in store: Store<Board>, at sequence: LogSequence
    ) async throws -> SeenBoard { SeenBoard(try await store.snapshot(at: sequence)) }
}

extension RowBoard: BoardFold {
    public static func seen(in store: Store<RowBoard>) throws -> SeenBoard {
        try store.read { try SeenBoard($0) }
    }

    public static func seen(
        in store: Store<RowBoard>, at sequence: LogSequence
    ) async throws -> SeenBoard { try await store.read(at: sequence) { try SeenBoard($0) } }
}

extension Store where P: BoardFold {
    public func seen() throws -> SeenBoard { try P.seen(in: self) }
    public func seen(at sequence: LogSequence) async throws -> SeenBoard {
        try await P.seen(in: self, at: sequence)
    }
}

/// A store of a board, in memory or in rows, for tests that must hold for both.
package protocol BoardStore: Sendable {
    var core: StoreCore { get }
    var status: StoreStatus { get }
    var replayStart: ReplayStart { get }
    var overlay: OverlayIntents<Move> { get }
    var rejections: [IntentNumber] { get }

    nonisolated(nonsending) func record(
        _ move: Move, force: Bool, confirmOnly: Bool, once: String?, replacing key: String?,
        held: Bool, info: [String: String]
    ) async throws(CommandError) -> Receipt
    nonisolated(nonsending) func enqueue(
        _ move: Move, force: Bool, confirmOnly: Bool, once: String?, replacing key: String?,
        held: Bool, info: [String: String]
    ) async throws(CommandError) -> QueuedIntent
    @discardableResult nonisolated(nonsending) func acknowledge(
        _ number: IntentNumber, position: Position?, replacement: Move?
    ) async throws(CommandError) -> AnswerResult
    @discardableResult nonisolated(nonsending) func reject(
        _ number: IntentNumber, code: String?, message: String, from lineage: Lineage?
    ) async throws(CommandError) -> AnswerResult
    @discardableResult nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<Move>], through: Position?, from lineage: Lineage?
    ) async throws(CommandError) -> BatchResult

    func intent(_ number: IntentNumber) throws(LogError) -> IntentStatus<Move>
    func entries(
        from start: LogSequence, countMax: Int
    ) throws(LogError) -> [LogEntry<Move>]
    func verify() async throws(LogError) -> Verification
    func checkpoint() async throws(LogError)
    func close() async
    func seen() throws -> SeenBoard
    func seen(at sequence: LogSequence) async throws -> SeenBoard
}

extension Store: BoardStore where P: BoardFold {}

extension BoardStore {
    package nonisolated(nonsending) func record(
        _ move: Move, force: Bool = false, once: String? = nil, info: [String: String] = [:]
    ) async throws(CommandError) -> Receipt {
        try await record(
            move, force: force, confirmOnly: false, once: once, replacing: nil, held: false,
            info: info)
    }

    package nonisolated(nonsending) func enqueue(
        _ move: Move
    ) async throws(CommandError) -> QueuedIntent {
        try await enqueue(
            move, force: false, confirmOnly: false, once: nil, replacing: nil, held: false,
            info: [:])
    }

    /// Queues a command without waiting for its result.
    package nonisolated(nonsending) func enqueue(
        _ command: Command
    ) async throws(CommandError) -> Request {
        try await core.runner.submit(.command(command, isForced: true), bytes: 0)
    }

    @discardableResult package nonisolated(nonsending) func acknowledge(
        _ number: IntentNumber, position: Position? = nil
    ) async throws(CommandError) -> AnswerResult {
        try await acknowledge(number, position: position, replacement: nil)
    }

    @discardableResult package nonisolated(nonsending) func reject(
        _ number: IntentNumber, code: String?, message: String
    ) async throws(CommandError) -> AnswerResult {
        try await reject(number, code: code, message: message, from: nil)
    }

    @discardableResult package nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<Move>], through: Position?
    ) async throws(CommandError) -> BatchResult {
        try await confirm(events, through: through, from: nil)
    }

    @discardableResult package nonisolated(nonsending) func reject(
        _ number: IntentNumber
    ) async throws(CommandError) -> AnswerResult {
        try await reject(number, code: nil, message: "no")
    }

    @discardableResult package nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<Move>]
    ) async throws(CommandError) -> BatchResult { try await confirm(events, through: nil) }

    /// The cells of the view.
    package var cells: [String: Int] { get throws { try seen().view.cells } }

    /// The number of calls of the board's `apply`.
    package var counts: FoldCounts {
        let published = core.published
        return (published.views.first as? FoldedState<Board>)?.counts ?? published.rows[0].counts
    }
}

/// Where a board keeps its state.
public enum BoardKeeper: String, CaseIterable, Sendable {
    case memory
    case rows

    public var type: any BoardFold.Type {
        switch self {
        case .memory: Board.self
        case .rows: RowBoard.self
        }
    }

    /// A store on an empty log of replica "me".
    package func store(
        _ engine: Engine, _ kind: LogKind, in directory: TemporaryDirectory
    ) async throws -> any BoardStore { try await type.store(engine, kind, in: directory) }

    /// A store over a given storage.
    package func store(over storage: TestStorage) async throws(LogError) -> any BoardStore {
        try await type.store(over: storage)
    }

    /// A durable store on a log, which may exist already.
    package func open(
        at log: URL, _ kind: LogKind = .downlink, checkpoints: CheckpointPolicy = .manual,
        replica: String? = nil
    ) async throws(LogError) -> any BoardStore {
        try await type.open(at: log, kind, checkpoints, replica)
    }
}

extension BoardFold {
    fileprivate static func store(
        _ engine: Engine, _ kind: LogKind, in directory: TemporaryDirectory
    ) async throws -> any BoardStore { try await engine.store(Self.self, kind, in: directory) }

    fileprivate static func store(
        over storage: TestStorage
    ) async throws(LogError) -> any BoardStore { try await storage.store(Self.self) }

    fileprivate static func open(
        at log: URL, _ kind: LogKind, _ checkpoints: CheckpointPolicy, _ replica: String?
    ) async throws(LogError) -> any BoardStore {
        try await Store.open(
            at: log, Self.self, confirmedBy: kind, durability: .durable, checkpoints: checkpoints,
            replica: replica.flatMap { ReplicaID($0) }.map(NewReplica.exactly) ?? .random)
    }
}
