import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// The question behind these tests: is a rule missing in some combination of states and inputs?
///
/// Property: after every step, after every reopening and at every past sequence, a store shows the same as
/// the reference model (F1 to F14). The seed decides whether the board is in memory, in memory with rows
/// beside it, or in rows. Each script runs on disk and in memory, and in logs of both kinds. A second
/// projection refuses other events than the board; the seed decides whether they share their conflicts, from
/// the beginning or from a reopening on.
@Suite struct ModelTests {
    /// Commands of one kind of log.
    static let commandCount =
        Int(ProcessInfo.processInfo.environment["MODEL_STEPS"] ?? "").map { $0 / 2 }
        ?? TestEffort.value(quick: 1_500, full: 30_000)

    @Test(arguments: LogKind.allCases)
    func `a store shows the same as the reference model`(kind: LogKind) async throws {
        // An undoing that was attempted lapses, and comes back with the late acceptance of what it undoes.
        for seed in [6_624_622_594_891_571_836] as [UInt64] {
            var run = ModelRun(kind, seed: seed)
            let failure = try await run.failure()
            try #require(failure == nil, "seed \(seed): \(failure ?? "")")
        }
        let first = testSeed("model, \(kind)", variable: "MODEL_SEED")
        var seed = first
        var commands = 0
        while commands < Self.commandCount {
            var run = ModelRun(kind, seed: seed)
            let failure = try await run.failure()
            try #require(failure == nil, "seed \(seed): \(failure ?? "")")
            commands += run.commandCount
            seed += 1
        }
    }

    /// Rules that no script reaches are not tested.
    @Test func `generated scripts get every result from a log`() throws {
        var results: Set<String> = []
        for kind in LogKind.allCases {
            for seed in 0..<60 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                let script = try RandomHistory.script(kind, steps: 60, using: &random)
                var reference = ReferenceBoards(kind)
                var numbers = ScriptNumbers()
                for step in script.steps {
                    let command = numbers.command(for: step)
                    let result = command.map { reference.carryOut($0) }
                    numbers.note(result, of: step)
                    switch result {
                    case .recorded: results.insert("recorded")
                    case .recordedAll: results.insert("recorded together")
                    case .reversed(let withdrawn, let recorded):
                        if !withdrawn.isEmpty { results.insert("withdrew") }
                        if !recorded.isEmpty { results.insert("reversed") }
                    case .joined: results.insert("joined")
                    default: results.insert(result.map { "\($0)" } ?? "not for the log")
                    }
                }
            }
        }
        let ignored = IntentState.allCases.map { "\(CommandResult.ignored($0))" }
        let refused = [
            "inapplicable", "invalidBatch", "mayHaveLeft", "notHeld", "notPending", "notRejected",
            "onceKeyInUse", "reworded", "unknownIntent",
        ].map { "\(CommandResult.refused($0))" }
        let appended = [
            "recorded", "recorded together", "withdrew", "reversed", "joined", "attempted",
            "not for the log", "\(CommandResult.ignored(nil))",
        ]
        #expect(results == Set(ignored + refused + appended))
    }

    /// The first part of a snapshot that differs from the reference; nil if none does.
    static func difference(
        of snapshot: Snapshot<Board>, from expected: ReferenceLog<Board>.State, _ sequence: Int
    ) -> String? { SeenBoard(snapshot).difference(from: expected, sequence) }
}

/// The life of one log.
private struct ModelRun {
    static let stepCount = 60

    private let kind: LogKind
    private let seed: UInt64
    private var reference: ReferenceBoards
    private var policy: ConflictPolicy
    /// Whether a reopening lets the projections share their conflicts.
    private let sharesLater: Bool
    private let directory = TemporaryDirectory()
    private(set) var commandCount = 0

    init(_ kind: LogKind, seed: UInt64) {
        self.kind = kind
        self.seed = seed
        let isShared = seed / 8 % 3 == 0
        sharesLater = seed / 8 % 3 == 1
        policy = isShared ? .shared : .perProjection
        reference = ReferenceBoards(kind, isShared: isShared)
    }

    /// Where a store differs from the reference; nil if none does.
    mutating func failure() async throws -> String? {
        // Checking rows takes several times as long.
        switch seed % 8 {
        case 0: try await failure(Board.self, rows: [AdditionalProjection(RowBoard.self)])
        case 1: try await failure(RowBoard.self, rows: [])
        default: try await failure(Board.self, rows: [])
        }
    }

    private mutating func failure<P: BoardFold>(
        _ board: P.Type, rows: [AdditionalProjection<Move>]
    ) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var script = try RandomHistory.script(kind, steps: Self.stepCount, using: &random)
        if !(board is any Undoable.Type) { script.leaveOutUndo() }
        let also = [AdditionalProjection(SloppyBoard.self)] + rows
        func store(_ engine: Engine) async throws -> Store<P> {
            try await engine.store(board, kind, in: directory, also: also, conflicts: policy)
        }
        let memory = try await store(.memory)
        var lmdb = try await store(.lmdb)
        var numbers = ScriptNumbers()
        for index in script.steps.indices {
            let step = script.steps[index]
            let command = numbers.command(for: step)
            let expected = command.map { reference.carryOut($0) }
            numbers.note(expected, of: step)
            switch step {
            case .reopen, .kill:
                // A store with a thread cannot be killed, so this closes it. P10 tests crashes.
                await lmdb.close()
                if sharesLater {
                    policy = .shared
                    reference.shareConflicts()
                }
                lmdb = try await store(.lmdb)
            case .checkpoint:
                for store in [memory, lmdb] where !(sharesLater && store === memory) {
                    try await store.checkpoint()
                }
            case .record, .together, .change, .edit, .acknowledge, .reject, .confirm, .attempt:
                break
            }
            if command != nil { commandCount += 1 }
            let expectedState = reference.now
            // A store in memory cannot be opened with another policy.
            for (name, store) in [("lmdb", lmdb)] + (sharesLater ? [] : [("memory", memory)]) {
                let place = "\(name), step \(index + 1), \(step)"
                if let command {
                    let result = await store.carryOut(command)
                    guard result == expected else {
                        return "\(place): \(result), not \(expected.map { "\($0)" } ?? "")"
                    }
                }
                if let difference = try store.difference(
                    from: expectedState, reference.facts.count, hasRows: !rows.isEmpty)
                {
                    return "after \(place): \(difference)"
                }
            }
        }
        let stores = [lmdb] + (sharesLater ? [] : [memory])
        let difference = try await pastDifference(of: stores, hasRows: !rows.isEmpty)
        await lmdb.close()
        return difference
    }

    private func pastDifference<P: BoardFold>(
        of stores: [Store<P>], hasRows: Bool
    ) async throws -> String? {
        for sequence in 0...reference.facts.count {
            let expected = reference.board.state(at: sequence)
            let past = LogSequence(UInt64(sequence))
            // A board beside rows that share conflicts is not one of the projections that share.
            for store in stores where P.self == Board.self || policy == .perProjection {
                let board = SeenBoard(try await store.snapshot(of: Board.self, at: past))
                if let difference = board.difference(from: expected, sequence) {
                    return "view at \(sequence): \(difference)"
                }
            }
            // Each of these folds from the first entry, so the seed picks some sequences.
            guard sequence % 8 == Int(seed / 8 % 8) else { continue }
            for store in stores {
                var boards = [try await store.seen(at: past)]
                if hasRows {
                    boards.append(
                        try await store.projected(RowBoard.self).read(at: past) {
                            try SeenBoard($0)
                        })
                }
                for board in boards {
                    if let difference = board.difference(from: expected, sequence) {
                        return "\(P.self) at \(sequence): \(difference)"
                    }
                }
            }
        }
        return nil
    }
}

extension Store where P: BoardFold {
    func difference(
        from expected: ReferenceBoards.State, _ sequence: Int, hasRows: Bool
    ) throws -> String? {
        if let difference = try seen().difference(from: expected.board, sequence) {
            return difference
        }
        if hasRows {
            let rows = try projected(RowBoard.self).read { try SeenBoard($0) }
            if let difference = rows.difference(from: expected.board, sequence) {
                return "rows: \(difference)"
            }
        }
        let second = projected(SloppyBoard.self).snapshot
        guard second.view == expected.sloppy.view else {
            return "second view \(second.view), not \(expected.sloppy.view)"
        }
        guard second.conflicted == expected.sloppy.conflicted else {
            return "second conflicted \(second.conflicted), not \(expected.sloppy.conflicted)"
        }
        guard rejections == expected.board.rejections else {
            return "rejections \(rejections), not \(expected.board.rejections)"
        }
        let attempts = attempts.mapValues(\.count)
        guard attempts == expected.board.attempts else {
            return "attempts \(attempts), not \(expected.board.attempts)"
        }
        for (number, intent) in expected.board.intents {
            guard let status = try keptIntent(number, in: intent.state) else { continue }
            let isRejected = intent.state == .rejected
            guard status.state == intent.state, status.event == intent.event,
                status.isDismissed == (intent.isDismissed && isRejected),
                status.retries == intent.terms.retries,
                status.rejection == (isRejected ? intent.rejection : nil)
            else { return "intent \(number) is \(status), not \(intent)" }
        }
        return nil
    }
}

extension Store {
    /// Returns an intent; nil if a compaction has removed its entry, and the log knows its state.
    private func keptIntent(
        _ number: IntentNumber, in state: IntentState
    ) throws -> IntentStatus<P.Event>? {
        do throws(LogError) { return try intent(number) } catch {
            guard case .compactedIntent(let found, let known) = error, found == number,
                known == state
            else { throw error }
            return nil
        }
    }
}

extension SeenBoard {
    func difference(
        from expected: ReferenceLog<Board>.State, _ sequence: Int
    ) -> String? {
        guard self.sequence == LogSequence(UInt64(sequence)) else {
            return "sequence \(self.sequence)"
        }
        guard confirmed == expected.confirmed else {
            return "confirmed \(confirmed), not \(expected.confirmed)"
        }
        guard view == expected.view else { return "view \(view), not \(expected.view)" }
        guard through == expected.through else {
            return "through \(through), not \(expected.through)"
        }
        guard faults.count == expected.faults else {
            return "\(faults), not \(expected.faults) faults"
        }
        let lists = [pending, accepted, conflicted]
        let wanted = [expected.numbers(.pending), expected.numbers(.accepted), expected.conflicted]
        guard lists == wanted else { return "\(lists), not \(wanted)" }
        return nil
    }
}
