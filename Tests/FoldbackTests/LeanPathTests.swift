import Foldback
import TestSupport
import Testing

/// Question: does a lean path of the writer write the same bytes and leave the same state as the
/// general path?
///
/// It comes from a prototype that recorded a confirm-only intent without telling stored projections
/// its sequence. Only a law on rows found that.
@Suite struct LeanPathTests {
    /// The projections of a log.
    enum Projections: String, CaseIterable {
        case value, rows, both, sharing

        var set: ProjectionSet {
            switch self {
            case .value: ProjectionSet(Board.self, [])
            case .rows: ProjectionSet(RowBoard.self, [])
            case .both, .sharing:
                ProjectionSet(Board.self, [AdditionalProjection(RowBoard.self)])
            }
        }
    }

    /// The property: after each transaction of random commands, both logs wrote the same bytes,
    /// publish the same state, report the same row changes, and gave each command the same result.
    @Test(arguments: LogKind.allCases, Projections.allCases)
    func `the lean paths and the general path write the same bytes and leave the same state`(
        kind: LogKind, projections: Projections
    ) throws {
        let seed = testSeed("LeanPathTests", variable: "FOLDBACK_LEAN_SEED")
        for round in 0..<TestEffort.value(quick: 12, full: 300) {
            var commands = RandomCommands(kind, seed: seed &+ UInt64(round))
            var lean = WrittenLog(kind, projections, isLean: true)
            var general = WrittenLog(kind, projections, isLean: false)
            for step in 0..<40 {
                let transaction = commands.next(in: lean.working)
                let found = try lean.commit(transaction)
                let wanted = try general.commit(transaction)
                guard found == wanted else {
                    let place = zip(found, wanted).enumerated().first { $1.0 != $1.1 }
                    Issue.record(
                        "seed \(seed), round \(round), step \(step): \(transaction)\n\(place as Any)"
                    )
                    return
                }
            }
        }
    }
}

/// A log in memory, and the log that its writer prepares.
private struct WrittenLog {
    private let storage: MemoryLog
    private let isLean: Bool
    private var time: Int64 = 0
    private(set) var working: WorkingLog

    init(_ kind: LogKind, _ projections: LeanPathTests.Projections, isLean: Bool) {
        self.isLean = isLean
        storage = MemoryLog(kind: kind, replica: ReplicaID("me")!)
        let set = projections.set
        var shared = SharedConflicts()
        if projections == .sharing { shared.begin(set.members, at: 0) }
        var rows = set.rows
        for index in rows.indices {
            rows[index].attach(
                to: storage, number: UInt32(index + 1), format: MoveCodec().format, sequence: 0,
                faults: [])
        }
        var fold = LogFold(of: storage, folds: set.folds, rows: rows, sharing: shared)
        _ = fold.makePublishedState()
        working = WorkingLog(
            fold, attempts: Attempts(), lineage: nil, lostData: nil,
            replicas: storage.header.replicas)
    }

    /// Carries out the commands in one transaction, and returns everything that it did.
    mutating func commit(_ commands: [RandomCommands.Step]) throws -> [String] {
        time += 1
        working.beginTransaction(isWatched: true)
        var report = commands.map { carryOut($0) }
        let published = working.prepareToPublish()
        for rows in working.fold.rows {
            report += (rows.changes() ?? []).map { "changed \($0)" }.sorted()
        }
        report += working.batch.writes.map { "wrote \($0)" }
        report.append("answered \(working.answered)")
        report += describe(published)
        try storage.write(working.batch)
        working.beginTransaction(isWatched: false)
        return report
    }

    private mutating func carryOut(_ step: RandomCommands.Step) -> String {
        let now = Timestamp(millisecondsSince1970: time)
        switch step {
        case .attempt(let number):
            let attempt = Attempt(count: 1, startedAt: now)
            return "\(working.recordAttempts([number: attempt]))"
        case .command(let command, let isForced):
            let codec = AppCodec<Move>(codec: MoveCodec())
            do throws(FoldbackError) {
                let result =
                    isLean
                    ? try working.carryOut(
                        command, isForced: isForced, at: now, reading: storage, codec)
                    : try working.carryOutAny(
                        command, isForced: isForced, at: now, reading: storage, codec)
                return "\(result)"
            } catch {
                return "\(error)"
            }
        }
    }

    private func describe(_ state: PublishedState) -> [String] {
        var lines = [
            "\(state.sequence) \(state.through) \(state.nextNumber) \(state.acceptedCount)",
            "\(state.chain) \(state.recordBytes) \(state.unread) \(state.rejections.keys)",
        ]
        lines += state.overlay.map { number, intent in
            let recorded = intent.recorded
            return "\(number) \(intent.state) \(recorded.id) \(recorded.sequence) \(recorded.time) "
                + "\(intent.payload.text) \(recorded.isConfirmOnly) \(recorded.once as Any) "
                + "\(recorded.info.sorted { $0.key < $1.key })"
        }
        for view in state.views {
            guard let view = view as? FoldedState<Board> else { continue }
            let boards = [view.view, view.confirmed].map { $0.cells.sorted { $0.key < $1.key } }
            lines.append("\(boards) \(view.faults)")
            lines += view.conflicted.keys.map { "\($0): \(view.conflicted[$0] as Any)" }
        }
        for rows in state.rows {
            lines += rows.chains.map { "\($0.key): \($0.value)" }
            lines += rows.conflicted.keys.map { "\($0): \(rows.conflicted[$0] as Any)" }
            lines.append("\(rows.faults)")
        }
        return lines + working.attempts.map { "\($0.key): \($0.value)" }
    }
}

/// Random commands for a log of a kind, half of them plain intents.
private struct RandomCommands {
    enum Step {
        case command(Command, isForced: Bool)
        case attempt(IntentNumber)
    }

    private let kind: LogKind
    private var random: SeededGenerator

    init(_ kind: LogKind, seed: UInt64) {
        self.kind = kind
        random = SeededGenerator(seed: seed)
    }

    /// Returns the commands of one transaction.
    mutating func next(in log: WorkingLog) -> [Step] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in step(in: log) }
    }

    private mutating func step(in log: WorkingLog) -> Step {
        let isForced = random.oneIn(3)
        if random.oneIn(2) { return .command(record(once: nil), isForced: isForced) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .command(record(once: random.oneIn(2) ? "x" : "y"), isForced: isForced)
        case 1: return .attempt(number(in: log))
        case 2...5: return .command(answer(in: log), isForced: true)
        case 6...7 where kind == .downlink: return .command(batch(in: log), isForced: true)
        default: return .command(change(in: log), isForced: isForced)
        }
    }

    private mutating func record(once: ExactString?) -> Command {
        var info: [String: String] = [:]
        if random.oneIn(4) { info = ["screen": "board", "n": "1"] }
        return .record(
            Proposal(
                payload: payload(), isConfirmOnly: random.oneIn(5), once: once, info: info))
    }

    private mutating func payload() -> Payload {
        let cells = ["a", "b", "c"]
        let cell = cells.randomElement(using: &random)!
        let move: Move =
            switch Int.random(in: 0..<6, using: &random) {
            case 0...1: .set(cell, Int.random(in: 0...9, using: &random))
            case 2...3: .add(cell, Int.random(in: 1...9, using: &random))
            case 4: .claim(cell)
            default: random.oneIn(3) ? .sweep("a", cell) : .remove(cell)
            }
        guard let payload = try? MoveCodec().payload(of: move) else {
            preconditionFailure("\(move) cannot be encoded")
        }
        return payload
    }

    /// A number that the log may have, mostly of an old intent in the overlay.
    private mutating func number(in log: WorkingLog) -> IntentNumber {
        let overlay = log.fold.state.overlay.keys
        if let first = overlay.first, random.oneIn(2) { return first }
        if let any = overlay.randomElement(using: &random), random.oneIn(2) { return any }
        return IntentNumber(
            UInt64.random(in: 1...log.fold.state.nextNumber.value, using: &random))
    }

    private mutating func answer(in log: WorkingLog) -> Command {
        let number = number(in: log)
        guard !random.oneIn(4) else { return .reject(number, Rejection(message: "no")) }
        var position: Position?
        if kind == .downlink, random.oneIn(2) {
            let through = log.fold.state.through.value
            position = Position(through + UInt64.random(in: 0...3, using: &random))
        }
        return .acknowledge(
            number, position: position, replacement: random.oneIn(4) ? payload() : nil)
    }

    private mutating func change(in log: WorkingLog) -> Command {
        let number = number(in: log)
        if random.oneIn(4) { return .retry(number, with: payload()) }
        return .change(number, IntentCommand.allCases.randomElement(using: &random)!)
    }

    /// A batch that brings the first intents of the overlay as they were recorded, or something
    /// else.
    private mutating func batch(in log: WorkingLog) -> Command {
        var position = log.fold.state.through.value
        var events: [Confirmed] = []
        let isExact = random.oneIn(2)
        for (_, intent) in log.fold.state.overlay.from(0)
            .prefix(Int.random(in: 0...3, using: &random))
        {
            position += UInt64.random(in: 1...2, using: &random)
            let isOther = !isExact && random.oneIn(2)
            events.append(
                Confirmed(
                    position: Position(position),
                    payload: isOther ? payload() : intent.recorded.payload,
                    origin: isOther && random.oneIn(2) ? nil : intent.recorded.id))
        }
        let through = random.oneIn(2) ? nil : Position(position + 1)
        return .confirm(isExact ? events : events.shuffled(using: &random), through: through)
    }
}
