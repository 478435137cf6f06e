import Foldback
import FoldbackHistory
import TestSupport

/// Random logs as histories.
enum RandomHistory {
    /// Of everything that can be asked of a log, sensible or not.
    static func ofAnything(
        _ kind: LogKind, steps: Int, using random: inout SeededGenerator
    ) async throws -> (store: Store<Board>, reference: ReferenceLog) {
        var reference = ReferenceLog(kind: kind)
        let store = memoryStore(kind)
        for _ in 0..<steps {
            let before = reference.state(at: reference.facts.count)
            let command = RandomCommand.random(for: before, kind, using: &random)
            _ = reference.carryOut(command)
            _ = await store.carryOut(command)
        }
        return (store, reference)
    }

    /// A busy log of `count` entries in which `planted` come at places of their own; nobody answers
    /// these. Their sequences are returned, too.
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
        let move = Move.ofOneCell(using: &random)
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
            _ = try await store.retry(rejected, force: true)
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

    private static func memoryStore(_ kind: LogKind) -> Store<Board> {
        Store.inMemory(
            Board.self, also: [AdditionalProjection(SloppyBoard.self)], confirmedBy: kind,
            replica: ReplicaID("me"), sources: .counting())
    }
}

extension ReferenceLog {
    /// The facts that the entries state.
    init(_ history: RecordedHistory<Move>) {
        self.init(kind: history.kind, facts: history.entries.map { Fact($0.content) })
    }
}

extension ReferenceLog.Fact {
    fileprivate init(_ content: LogEntry<Move>.Content) {
        func int(_ number: some LogNumber) -> Int { Int(number.value) }
        switch content {
        case .intent(let number, let event, let isConfirmOnly, let once, let retries):
            self = .intent(
                int(number), event.event!, confirmOnly: isConfirmOnly, once: once,
                retries: retries.map(int))
        case .acknowledged(let number, let position, let replacement):
            self = .acknowledged(
                int(number), position: position.map(int),
                replacement: replacement.flatMap(\.event))
        case .changed(let number, .rejected(let rejection)):
            self = .rejected(int(number), rejection.message)
        case .changed(let number, .withdrawn): self = .withdrawn(int(number))
        case .changed(let number, .dismissed): self = .dismissed(int(number))
        case .confirmed(let events, let through):
            self = .batch(
                events.map {
                    ReferenceEvent(
                        position: int($0.position), move: $0.event.event!,
                        origin: $0.origin.map { ("\($0.replica)", int($0.number)) })
                }, through: int(through))
        }
    }
}
