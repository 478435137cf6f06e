import Foldback
import Foundation
import TestSupport
import Testing

/// Born from the question whether a rule was forgotten in some corner of states and inputs.
///
/// Property: after every command, after every reopening and at every past sequence, a store shows what
/// a naive refold of the facts shows (F1 to F14), on disk and in memory, in both kinds of log; with its state
/// in memory, by turns of the seed also with rows beside, or as rows alone.
@Suite struct ModelTests {
    static let stepCount = Int(ProcessInfo.processInfo.environment["MODEL_STEPS"] ?? "") ?? 100_000
    static let stepsPerLog = 60

    @Test(arguments: LogKind.allCases)
    func `a store shows what a refold of the facts shows`(kind: LogKind) async throws {
        let environment = ProcessInfo.processInfo.environment["MODEL_SEED"]
        let first = environment.flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max / 2)
        print("model: \(kind), seed \(first) (again: MODEL_SEED=\(first))")
        let runs = max(1, Self.stepCount / 2 / Self.stepsPerLog)
        for run in 0...UInt64(runs) {
            let failure = try await Self.run(kind, seed: first + run)
            try #require(failure == nil, "seed \(first + run): \(failure ?? "")")
        }
    }

    /// One log's life; nil, or where a store and the reference differ.
    static func run(_ kind: LogKind, seed: UInt64) async throws -> String? {
        // Rows take several times as long to look at.
        switch seed % 8 {
        case 0:
            let beside = AdditionalProjection(RowBoard.self)
            return try await run(Board.self, also: [beside], kind, seed: seed)
        case 1: return try await run(RowBoard.self, also: [], kind, seed: seed)
        default: return try await run(Board.self, also: [], kind, seed: seed)
        }
    }

    private static func run<P: BoardFold>(
        _ board: P.Type, also: [AdditionalProjection<Move>], _ kind: LogKind, seed: UInt64
    ) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var reference = ReferenceLog(kind: kind)
        let directory = TemporaryDirectory()
        let hasRowsBeside = !also.isEmpty
        let also = [AdditionalProjection(SloppyBoard.self)] + also
        let memory = try await Engine.memory.store(board, kind, in: directory, also: also)
        var lmdb = try await Engine.lmdb.store(board, kind, in: directory, also: also)
        for step in 0..<stepsPerLog {
            let before = reference.state(at: reference.facts.count)
            let command = RandomCommand.random(for: before, kind, using: &random)
            if case .reopen = command {
                await lmdb.close()
                lmdb = try await Engine.lmdb.store(board, kind, in: directory, also: also)
            }
            let expected = reference.carryOut(command)
            let after = reference.state(at: reference.facts.count)
            for (name, store) in [("memory", memory), ("lmdb", lmdb)] {
                let outcome = await store.carryOut(command)
                guard outcome == expected else {
                    return "step \(step), \(name), \(command): \(outcome), not \(expected)"
                }
                if let difference = try difference(
                    of: store, hasRowsBeside, from: after, reference.facts.count)
                {
                    return "step \(step), \(name), after \(command): \(difference)"
                }
            }
        }
        for sequence in 0...reference.facts.count {
            let expected = reference.state(at: sequence)
            for store in [memory, lmdb] {
                let past = try await store.snapshot(
                    of: Board.self, at: LogSequence(UInt64(sequence)))
                if let difference = difference(
                    of: SeenBoard(past), from: expected, sequence)
                {
                    return "view at \(sequence): \(difference)"
                }
            }
            // By turns, for each is folded from the first entry.
            guard sequence % 8 == Int(seed / 8 % 8) else { continue }
            for store in [memory, lmdb] {
                var past = [try await store.seen(at: LogSequence(UInt64(sequence)))]
                if hasRowsBeside {
                    past.append(
                        try await store.projected(RowBoard.self)
                            .read(at: LogSequence(UInt64(sequence))) { try SeenBoard($0) })
                }
                for past in past {
                    if let difference = difference(of: past, from: expected, sequence) {
                        return "\(board) at \(sequence): \(difference)"
                    }
                }
            }
        }
        await lmdb.close()
        return nil
    }

    private static func difference<P: BoardFold>(
        of store: Store<P>, _ hasRowsBeside: Bool, from expected: ReferenceLog.State,
        _ sequence: Int
    ) throws -> String? {
        if let difference = difference(of: try store.seen(), from: expected, sequence) {
            return difference
        }
        if hasRowsBeside {
            let rows = try store.projected(RowBoard.self).read { try SeenBoard($0) }
            if let difference = difference(of: rows, from: expected, sequence) {
                return "rows: \(difference)"
            }
        }
        let sloppy = store.projected(SloppyBoard.self).snapshot
        guard sloppy.view == expected.sloppyView else {
            return "second view \(sloppy.view), not \(expected.sloppyView)"
        }
        guard sloppy.conflicted.map({ Int($0.value) }) == expected.sloppyConflicted else {
            return "second conflicted \(sloppy.conflicted), not \(expected.sloppyConflicted)"
        }
        guard store.rejections.map({ Int($0.value) }) == expected.rejections else {
            return "rejections \(store.rejections), not \(expected.rejections)"
        }
        for (number, intent) in expected.intents {
            let status = try store.intent(IntentNumber(UInt64(number)))
            guard status.state == intent.state, status.event == intent.move,
                status.isDismissed == (intent.dismissed && intent.state == .rejected),
                status.retries.map({ Int($0.value) }) == intent.retries,
                status.rejection?.message == (intent.state == .rejected ? intent.message : nil)
            else { return "intent \(number) is \(status), not \(intent)" }
        }
        return nil
    }

    static func difference(
        of snapshot: Snapshot<Board>, from expected: ReferenceLog.State, _ sequence: Int
    ) -> String? { difference(of: SeenBoard(snapshot), from: expected, sequence) }

    private static func difference(
        of snapshot: SeenBoard, from expected: ReferenceLog.State, _ sequence: Int
    ) -> String? {
        guard Int(snapshot.sequence.value) == sequence else {
            return "sequence \(snapshot.sequence)"
        }
        guard snapshot.confirmed == expected.confirmed else {
            return "confirmed \(snapshot.confirmed), not \(expected.confirmed)"
        }
        guard snapshot.view == expected.view else {
            return "view \(snapshot.view), not \(expected.view)"
        }
        guard Int(snapshot.through.value) == expected.through else {
            return "through \(snapshot.through), not \(expected.through)"
        }
        guard snapshot.faults.count == expected.faults else {
            return "\(snapshot.faults), not \(expected.faults) faults"
        }
        let lists = [snapshot.pending, snapshot.accepted, snapshot.conflicted]
            .map { $0.map { Int($0.value) } }
        let wanted = [expected.numbers(.pending), expected.numbers(.accepted), expected.conflicted]
        guard lists == wanted else { return "\(lists), not \(wanted)" }
        return nil
    }
}
