import Foldback
import FoldbackHistory
import FoldbackTesting
import TestSupport

/// Random logs.
enum RandomHistory {
    /// A log of everything that can be asked of a log, sensible or not, and its reference.
    ///
    /// - Parameters:
    ///   - steps: how many steps the script has.
    ///   - isShared: whether the projections share their conflicts.
    static func ofAnything(
        _ kind: LogKind, steps: Int, isShared: Bool = false, using random: inout SeededGenerator
    ) async throws -> (store: Store<Board>, reference: ReferenceBoards) {
        let script = try script(kind, steps: steps, using: &random)
        var reference = ReferenceBoards(kind, isShared: isShared)
        var numbers = ScriptNumbers()
        let store = memoryStore(kind, isShared: isShared)
        for step in script.steps {
            let command = numbers.command(for: step)
            let expected = command.map { reference.carryOut($0) }
            numbers.note(expected, of: step)
            guard let command else { continue }
            let result = await store.carryOut(command)
            precondition(result == expected, "\(command): \(result), not \(expected!)")
        }
        return (store, reference)
    }

    /// The first steps of a generated script.
    static func script(
        _ kind: LogKind, steps: Int, using random: inout SeededGenerator
    ) throws -> Script<Move> {
        let scripts = Generator.moves.scripts(kind, steps: 2 * steps)
        while true {
            var script = try scripts.value(seed: random.next())
            // Scripts end by chance; more than half of them are long enough.
            guard script.steps.count >= steps else { continue }
            script.steps.removeSubrange(steps...)
            script.forceUndo()
            return script
        }
    }

    /// A busy log of `count` entries, with the events `planted` at random places. Those intents get no
    /// answers. Also returns their sequences.
    static func busy(
        _ kind: LogKind, count: Int, planting planted: [Move] = [],
        using random: inout SeededGenerator
    ) async throws -> (history: RecordedHistory<Move>, planted: [LogSequence]) {
        let store = memoryStore(kind)
        var places = Set<UInt64>()
        while places.count < planted.count {
            places.insert(UInt64.random(in: 1...UInt64(count), using: &random))
        }
        var left = planted[...]
        var sequences: [LogSequence] = []
        var untouched: Set<IntentNumber> = []
        while store.snapshot.sequence.value < UInt64(count) {
            if places.contains(store.snapshot.sequence.value + 1), let move = left.popFirst() {
                let receipt = try await store.record(move, force: true)
                sequences.append(receipt.sequence)
                untouched.insert(receipt.number)
                continue
            }
            let overlay = store.overlay.filter { !untouched.contains($0.number) }
            try await step(store, kind, overlay, using: &random)
        }
        return (try store.history(), sequences)
    }

    private static func step(
        _ store: Store<Board>, _ kind: LogKind, _ overlay: [OverlayIntent<Move>],
        using random: inout SeededGenerator
    ) async throws {
        let move = try Generator.movesOfOneCell.value(seed: random.next())
        guard let intent = overlay.randomElement(using: &random), !random.oneIn(3) else {
            _ = try await store.record(
                move, force: true, confirmOnly: random.oneIn(8), once: random.oneIn(6) ? "x" : nil)
            return
        }
        let next = Position(store.snapshot.through.value + 1)
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<2: try await store.reject(intent.number, message: "no")
        case 2 where intent.state == .pending: try await store.withdraw(intent.number)
        case 3:
            guard let rejected = store.snapshot.rejections.randomElement(using: &random) else {
                return
            }
            _ = try await store.retry(
                rejected, with: random.oneIn(2) ? move : nil, force: true)
        case 4..<6 where kind == .downlink:
            try await store.confirm(
                [
                    ConfirmedEvent(position: next, event: move, origin: intent.id),
                    ConfirmedEvent(position: next, event: .add("a", 1), origin: nil),
                ], through: next)
        default:
            let position = kind == .downlink && random.oneIn(2) ? next : nil
            try await store.acknowledge(
                intent.number, position: position, replacement: random.oneIn(4) ? move : nil)
        }
    }

    private static func memoryStore(_ kind: LogKind, isShared: Bool = false) -> Store<Board> {
        Store.inMemory(
            Board.self, also: [AdditionalProjection(SloppyBoard.self)],
            conflicts: isShared ? .shared : .perProjection, confirmedBy: kind,
            replica: ReplicaID("me"), sources: .counting())
    }
}

/// The reference of a log with two projections, ``Board`` and ``SloppyBoard``.
struct ReferenceBoards {
    private(set) var board: ReferenceLog<Board>
    private(set) var sloppy: ReferenceLog<SloppyBoard>

    /// - Parameter isShared: whether both share their conflicts.
    init(_ kind: LogKind, facts: [LogFact<Move>] = [], isShared: Bool = false) {
        let start = isShared ? 0 : nil
        board = ReferenceLog(kind, facts: facts, beside: [SloppyBoard.self], sharedFrom: start)
        sloppy = ReferenceLog(kind, facts: facts, beside: [Board.self], sharedFrom: start)
    }

    /// Lets both share their conflicts from the last fact on.
    mutating func shareConflicts() {
        board.shareConflicts()
        sloppy.shareConflicts()
    }

    /// The reference of the facts that the entries state.
    init(_ history: RecordedHistory<Move>) {
        self.init(history.kind, facts: history.entries.map { LogFact($0.content) })
    }

    var facts: [LogFact<Move>] { board.facts }

    func state(at sequence: Int) -> State {
        State(board: board.state(at: sequence), sloppy: sloppy.state(at: sequence))
    }

    var now: State { State(board: board.now, sloppy: sloppy.now) }

    /// Recording is refused if the event does not apply to one of the projections (F9).
    mutating func carryOut(_ command: LogCommand<Move>) -> CommandResult {
        let decisions = (board.decision(on: command), sloppy.decision(on: command))
        // Only boards know inverses. Undo and redo are forced, so no projection is asked.
        switch command {
        case .change(_, .undo, _), .change(_, .redo, _):
            let decision = board.decision(on: command)
            board.note(decision)
            sloppy.note(.init(decision.result, decision.facts))
            return decision.result
        default: break
        }
        let refusal = CommandResult.refused("inapplicable")
        if decisions.0.result == refusal || decisions.1.result == refusal { return refusal }
        precondition(decisions.0.result == decisions.1.result, "\(decisions)")
        board.note(decisions.0)
        sloppy.note(decisions.1)
        return decisions.0.result
    }

    struct State {
        let board: ReferenceLog<Board>.State
        let sloppy: ReferenceLog<SloppyBoard>.State
    }
}

extension LogFact<Move> {
    fileprivate init(_ content: LogEntry<Move>.Content) {
        switch content {
        case .intent(let intent):
            var terms = Terms(
                confirmOnly: intent.isConfirmOnly, once: intent.once, retries: intent.retries,
                replacing: intent.replacingKey, held: intent.isHeld)
            terms.replaces = intent.replaces
            terms.group = intent.group
            terms.undoes = intent.undoes
            terms.inverse = intent.inverse.flatMap {
                try? MoveCodec().decode($0.bytes.span.bytes, format: $0.format)
            }
            self = .intent(intent.number, intent.event.event!, terms)
        case .acknowledged(let number, let position, let replacement):
            self = .acknowledged(
                number, position: position, replacement: replacement.flatMap(\.event))
        case .changed(let number, let change): self = .changed(number, change)
        case .confirmed(let events, let through):
            self = .confirmed(
                events.map {
                    ConfirmedEvent(position: $0.position, event: $0.event.event!, origin: $0.origin)
                }, through: through)
        }
    }
}

extension Script<Move> {
    /// Forces undo and redo, so that their result depends on one projection alone.
    fileprivate mutating func forceUndo() {
        for (index, step) in steps.enumerated() {
            switch step {
            case .change(let place, .undo, _): steps[index] = .undo(place, force: true)
            case .change(let place, .redo, _): steps[index] = .redo(place, force: true)
            default: break
            }
        }
    }

    /// Leaves out undo and redo. Places stay.
    mutating func leaveOutUndo() {
        for (index, step) in steps.enumerated() {
            switch step {
            case .change(_, .undo, _), .change(_, .redo, _): steps[index] = .retry(0)
            default: break
            }
        }
    }
}
