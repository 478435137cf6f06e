import Foldback
import Synchronization

/// A log in memory that a history is carried out on: a store as apps have it, but for the disk.
struct LogUnderTest<P: Projection> {
    private(set) var store: Store<P>
    private var rows: ObservedLog
    private(set) var numbers = ScriptNumbers()
    private let sources = LogSources.counting
    private let watch: Watch?

    /// Told whenever something is about to be written: what is seen by then, and how many entries are
    /// kept.
    typealias Watch = @Sendable (_ seen: LogSequence, _ kept: Int) -> Void

    init(
        _ kind: LogKind, replica: ReplicaID = .own, watch: Watch? = nil
    ) throws(FoldbackError) {
        self.watch = watch
        rows = ObservedLog(MemoryLog(kind: kind, replica: replica))
        store = try Store.withoutThread(
            P.self, also: P.alsoForLaws, on: rows, sources: sources)
        letWatch()
    }

    private func letWatch() {
        guard let watch else { return }
        rows.watch { [weak store, weak rows] in
            if let store, let rows { watch(store.snapshot.sequence, rows.rowCount) }
        }
    }

    /// What the end of the process leaves.
    func left() throws(FoldbackError) -> Store<P> {
        try Store.withoutThread(
            P.self, also: P.alsoForLaws, on: ObservedLog(MemoryLog(rows.log.rows)),
            sources: sources)
    }

    /// The sequence of a checkpoint of everything so far; 0 where there is nothing yet.
    func checkpointed() async throws(FoldbackError) -> LogSequence {
        guard store.snapshot.sequence > 0 else { return 0 }
        try await store.checkpoint()
        return store.snapshot.sequence
    }

    /// Nil where the step names nothing that was recorded, or asks nothing of the log.
    mutating func perform(_ step: Script<P.Event>.Step) async throws -> CommandResult? {
        switch step {
        case .checkpoint:
            // What cannot have one has none.
            do { try await store.checkpoint() } catch FoldbackError.noCheckpoint { return nil }
            return nil
        case .reopen, .kill:
            if case .reopen = step { await store.close() }
            rows = ObservedLog(MemoryLog(rows.log.rows))
            store = try Store.withoutThread(
                P.self, also: P.alsoForLaws, on: rows, sources: sources)
            letWatch()
            return nil
        case .record, .change, .acknowledge, .reject, .confirm:
            return await store.carryOut(step, &numbers)
        }
    }
}

extension Store {
    /// Carries out a step and notes its number; nil if the step has no command for this log.
    func carryOut(
        _ step: Script<P.Event>.Step, _ numbers: inout ScriptNumbers
    ) async -> CommandResult? {
        var result: CommandResult?
        if let command = numbers.command(for: step) { result = await carryOut(command) }
        numbers.note(result, of: step)
        return result
    }

    /// Carries out a command, and returns its result as the reference model states it.
    package func carryOut(_ command: LogCommand<P.Event>) async -> CommandResult {
        do throws(FoldbackError) {
            switch command {
            case .record(let event, let force, let confirmOnly, let once):
                return result(
                    try await record(event, force: force, confirmOnly: confirmOnly, once: once))
            case .change(let number, .withdraw, _): try await withdraw(number)
            case .change(let number, .dismiss, _): try await dismiss(number)
            case .change(let number, .retry, let force):
                return result(try await retry(number, force: force))
            case .acknowledge(let number, let position, let replacement):
                return result(
                    try await acknowledge(number, position: position, replacement: replacement))
            case .reject(let number, let rejection):
                return result(
                    try await reject(number, code: rejection.code, message: rejection.message))
            case .confirm(let events, let through):
                switch try await confirm(events, through: through) {
                case .confirmed: return .appended
                case .ignored: return .ignored(nil)
                }
            }
            return .appended
        } catch {
            return .refused(Mirror(reflecting: error).children.first?.label ?? "\(error)")
        }
    }

    private func result(_ receipt: Receipt) -> CommandResult {
        receipt.isJoined ? .joined(receipt.number) : .recorded(receipt.number)
    }

    private func result(_ answer: AnswerResult) -> CommandResult {
        switch answer {
        case .recorded: .appended
        case .ignored(let state): .ignored(state)
        }
    }
}

extension LogSources {
    /// A clock that goes one millisecond with each look at it, from 2026-11-21 on.
    static var counting: LogSources {
        let ticks = Atomic<Int64>(1_795_209_600_000)
        return LogSources(
            now: {
                Timestamp(
                    millisecondsSince1970: ticks.add(1, ordering: .relaxed).newValue)
            },
            freshReplica: { .named("fresh") })
    }
}
