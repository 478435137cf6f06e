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
        case .record, .retry, .withdraw, .dismiss, .acknowledge, .reject, .confirm:
            let outcome: CommandResult? =
                if let asked = numbers.asked(by: step) { await store.carryOut(asked) } else { nil }
            if step.isRecording { numbers.append(outcome) }
            return outcome
        }
    }
}

extension Store {
    /// What comes of it, in words that can be compared.
    func carryOut(_ asked: LogCommand<P.Event>) async -> CommandResult {
        do throws(FoldbackError) {
            switch asked {
            case .record(let event, let force, let confirmOnly, let once):
                return outcome(
                    try await record(event, force: force, confirmOnly: confirmOnly, once: once))
            case .retry(let number, let force):
                return outcome(try await retry(number, force: force))
            case .withdraw(let number): try await withdraw(number)
            case .dismiss(let number): try await dismiss(number)
            case .acknowledge(let number, let position, let replacement):
                return outcome(
                    try await acknowledge(number, position: position, replacement: replacement))
            case .reject(let number, let message):
                return outcome(try await reject(number, message: message))
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

    private func outcome(_ receipt: Receipt) -> CommandResult {
        receipt.isJoined ? .joined(receipt.number) : .recorded(receipt.number)
    }

    private func outcome(_ outcome: AnswerResult) -> CommandResult {
        switch outcome {
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
