import Foldback
import Synchronization

/// A log in memory that runs a script. Its store is the store of apps, without the disk.
struct LogUnderTest<P: Projection> {
    private(set) var store: Store<P>
    private var storage: ObservedLog
    private(set) var numbers = ScriptNumbers()
    private let sources: LogSources
    private let watch: Watch?

    /// Called before each write with the visible sequence and the number of committed entries.
    typealias Watch = @Sendable (_ seen: LogSequence, _ committed: Int) -> Void

    init(
        _ kind: LogKind, replica: ReplicaID = .own, sources: LogSources = .counting,
        watch: Watch? = nil
    ) throws(LogError) {
        (self.sources, self.watch) = (sources, watch)
        storage = ObservedLog(MemoryLog(kind: kind, replica: replica))
        store = try Store.withoutThread(
            P.self, also: P.alsoForLaws, on: storage, sources: sources)
        startWatching()
    }

    private func startWatching() {
        guard let watch else { return }
        storage.watch { [weak store, weak storage] in
            if let store, let storage { watch(store.snapshot.sequence, storage.entryCount) }
        }
    }

    /// The committed data.
    var committed: MemoryRows { storage.log.rows }

    /// A store on the committed data, as after the end of the process.
    func afterCrash() throws(LogError) -> Store<P> { try Self.store(on: committed) }

    /// A store on committed data of any log.
    static func store(on rows: MemoryRows) throws(LogError) -> Store<P> {
        try Store.withoutThread(
            P.self, also: P.alsoForLaws, on: MemoryLog(rows), sources: .counting)
    }

    /// Writes a checkpoint. Returns its sequence, or 0 if the log is empty.
    func checkpointed() async throws(LogError) -> LogSequence {
        guard store.snapshot.sequence > 0 else { return 0 }
        try await store.checkpoint()
        return store.snapshot.sequence
    }

    /// Carries out a step; nil if the step has no command for this log.
    mutating func perform(_ step: Script<P.Event>.Step) async throws -> CommandResult? {
        switch step {
        case .checkpoint:
            // A projection without a state codec has no checkpoints.
            do { try await store.checkpoint() } catch LogError.noCheckpoint { return nil }
            return nil
        case .reopen, .kill:
            if case .reopen = step { await store.close() }
            storage = ObservedLog(MemoryLog(storage.log.rows))
            store = try Store.withoutThread(
                P.self, also: P.alsoForLaws, on: storage, sources: sources)
            startWatching()
            return nil
        case .record, .together, .change, .edit, .acknowledge, .reject, .confirm, .attempt:
            return await store.carryOut(step, &numbers)
        }
    }
}

extension LogUnderTest {
    /// Takes the places of a step that the log does not get.
    mutating func skip(_ step: Script<P.Event>.Step) { numbers.note(nil, of: step) }
}

extension CommandError {
    /// The name of the case; for an error of the log, of the log error's case.
    fileprivate var caseName: String {
        let cause: any Error = if case .log(let error) = self { error } else { self }
        return Mirror(reflecting: cause).children.first?.label ?? "\(cause)"
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
        do throws(CommandError) {
            switch command {
            case .record(let event, let force, let terms):
                let sharesOnlyKeys = (P.self as? any Projection.Type)?.sharesOnlyKeys ?? true
                return result(
                    try await record(
                        event, force: force, confirmOnly: terms.confirmOnly, once: terms.once,
                        replacing: sharesOnlyKeys ? terms.replacingKey : nil, held: terms.held))
            case .together(let events, let force, let terms):
                let receipts = try await record(
                    contentsOf: events, force: force, confirmOnly: terms.confirmOnly,
                    once: terms.once, held: terms.held)
                return receipts.count == 1
                    ? result(receipts[0]) : .recordedAll(receipts.map(\.number))
            case .change(let number, .release, _): try await release(number)
            case .change(let number, .undo, let force):
                return result(try await undo(number, force: force))
            case .change(let number, .redo, let force):
                return result(try await redo(number, force: force))
            case .change(let number, .withdrawAll, _): try await withdraw(all: number)
            case .change(let number, .retryAll, let force):
                let receipts = try await retry(all: number, force: force)
                return receipts.count == 1
                    ? result(receipts[0]) : .recordedAll(receipts.map(\.number))
            case .change(let number, .withdraw, _): try await withdraw(number)
            case .change(let number, .abandon, _): try await abandon(number)
            case .change(let number, .dismiss, _): try await dismiss(number)
            case .change(let number, .retry, let force):
                return result(try await retry(number, force: force))
            case .retry(let number, let event, let force):
                return result(try await retry(number, with: event, force: force))
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
            case .attempt(let number): return try await attempt(number)
            }
            return .appended
        } catch {
            return .refused(error.caseName)
        }
    }

    /// Begins to send an intent, as an outbox does before each request.
    private func attempt(_ number: IntentNumber) async throws(CommandError) -> CommandResult {
        let attempt = Attempt(
            count: (attempt(of: number)?.count ?? 0) + 1,
            startedAt: Timestamp(millisecondsSince1970: 0))
        do throws(LogError) {
            let numbers = try await recordAttempts([number: attempt], flushes: false)
            return numbers == [number] ? .attempted : .ignored(nil)
        } catch {
            throw .log(error)
        }
    }

    private func result(_ receipt: Receipt) -> CommandResult {
        receipt.isJoined ? .joined(receipt.number) : .recorded(receipt.number)
    }

    private func result(_ reversed: Reversed) -> CommandResult {
        if let state = reversed.ignored { return .ignored(state) }
        if let joined = reversed.recorded.first, joined.isJoined { return .joined(joined.number) }
        return .reversed(
            withdrawn: reversed.withdrawn, recorded: reversed.recorded.map(\.number))
    }

    private func result(_ answer: AnswerResult) -> CommandResult {
        switch answer {
        case .recorded: .appended
        case .ignored(let state): .ignored(state)
        }
    }
}

extension LogSources {
    /// A clock that advances one millisecond with each reading, from 2026-11-21 on.
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
