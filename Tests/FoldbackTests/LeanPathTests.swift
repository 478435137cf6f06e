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
    ///
    /// The commands take every lean path, in all of its cases. Some cases are rare, so there are more
    /// rounds while one is missing.
    @Test(arguments: LogKind.allCases, Projections.allCases)
    func `the lean paths and the general path write the same bytes and leave the same state`(
        kind: LogKind, projections: Projections
    ) throws {
        let seed = testSeed("LeanPathTests", variable: "FOLDBACK_LEAN_SEED")
        var taken = TakenPaths()
        let roundCount = TestEffort.value(quick: 5, full: 50)
        for round in 0..<max(60, 5 * roundCount) {
            if round >= roundCount, taken.missing(in: kind).isEmpty { break }
            var commands = RandomCommands(kind, seed: seed &+ UInt64(round))
            let copied = commands.copied()
            var lean = try WrittenLog(kind, projections, isLean: true, copied)
            var general = try WrittenLog(kind, projections, isLean: false, copied)
            for step in 0..<40 {
                let transaction = commands.next(in: lean.working)
                lean.taken = TakenPaths()
                let found = try lean.commit(transaction)
                let wanted = try general.commit(transaction)
                guard found == wanted else {
                    let place = zip(found, wanted).enumerated().first { $1.0 != $1.1 }
                    Issue.record(
                        "seed \(seed), round \(round), step \(step): \(transaction)\n\(place as Any)"
                    )
                    return
                }
                taken += lean.taken
            }
        }
        let missing = taken.missing(in: kind)
        #expect(missing.isEmpty, "seed \(seed): \(missing), of \(taken)")
    }
}

/// How often random commands took each path.
private struct TakenPaths: CustomStringConvertible {
    private var counts: [String: Int] = [:]

    /// Counts a command that takes the lean path of `plain`, or else the general path.
    ///
    /// - Parameter attempts: the attempts of pending intents.
    mutating func note(_ command: Command, _ plain: PlainEntry?, _ attempts: Attempts) {
        switch (command, plain) {
        case (_, .intent(let intent)):
            count("intent")
            let recorded = intent.recorded
            if recorded.isConfirmOnly { count("confirm-only intent") }
            if !recorded.info.isEmpty { count("intent with info") }
            if recorded.terms.isHeld { count("draft") }
            if recorded.payload.isUnreadable { count("unreadable intent") }
        case (_, .acceptance(let intent, let position)):
            count("acceptance")
            count(position == nil ? "acceptance without a position" : "acceptance at a position")
            note(intent.recorded, "acceptance", attempts)
        case (_, .confirmation(let intent)):
            count("confirmation")
            note(intent.recorded, "confirmation", attempts)
        case (_, .batch(let batch, let intents)):
            count("batch")
            if intents.count > 1 { count("batch of several events") }
            if Set(batch.events.map(\.position)).count < intents.count {
                count("batch with a shared position")
            }
            for (event, recorded) in zip(batch.events, intents) {
                note(recorded, "batch", attempts)
                if event.payload.bytes != recorded.payload.bytes { count("batch in other bytes") }
            }
        case (.record, nil): count("recorded on the general path")
        case (.acknowledge(_, _, let replacement), nil):
            count("acknowledged on the general path")
            if replacement != nil { count("replaced on the general path") }
        case (.confirm, nil): count("confirmed on the general path")
        case (.recordAll(let proposals), nil):
            guard proposals.count > 1 else { break }
            count(proposals[0].once == nil ? "several intents" : "several intents with a once key")
        case (.change, nil), (.retry, nil), (.reject, nil): break
        }
    }

    private mutating func note(
        _ recorded: RecordedIntent, _ path: String, _ attempts: Attempts
    ) {
        if attempts[recorded.number] != nil { count("\(path) of an attempted intent") }
        if recorded.payload.isUnreadable { count("\(path) of an unreadable intent") }
        if recorded.id.replica == WrittenLog.older { count("\(path) of an older replica's intent") }
        if recorded.isConfirmOnly { count("\(path) of a confirm-only intent") }
    }

    private mutating func count(_ path: String) { counts[path, default: 0] += 1 }

    static func += (a: inout TakenPaths, b: TakenPaths) {
        a.counts.merge(b.counts) { $0 + $1 }
    }

    /// The cases that were never met, and the lean paths that a tenth of their commands or fewer
    /// took.
    func missing(in kind: LogKind) -> [String] {
        let general = ["recorded", "acknowledged"].map { "\($0) on the general path" }
        let both =
            general + [
                "confirm-only intent", "intent with info", "unreadable intent", "draft",
                "replaced on the general path", "several intents",
                "several intents with a once key",
            ]
        let shares: [(lean: String, general: String)]
        let cases: [String]
        switch kind {
        case .acknowledgement:
            shares = [("intent", general[0]), ("confirmation", general[1])]
            cases = Self.intents.map { "confirmation of an \($0) intent" }
        case .downlink:
            let last = "confirmed on the general path"
            shares = [("intent", general[0]), ("acceptance", general[1]), ("batch", last)]
            cases =
                ["acceptance", "batch"].flatMap { path in
                    Self.intents.map { "\(path) of an \($0) intent" }
                } + [
                    last, "acceptance without a position", "acceptance at a position",
                    "acceptance of a confirm-only intent", "batch of several events",
                    "batch in other bytes", "batch with a shared position",
                ]
        }
        let rare = shares.filter { self[$0.lean] * 10 <= self[$0.lean] + self[$0.general] }
        return (both + cases).filter { self[$0] == 0 } + rare.map(\.lean)
    }

    /// The intents that each lean path of answers must meet.
    private static let intents = ["unreadable", "older replica's", "attempted"]

    private subscript(_ path: String) -> Int { counts[path] ?? 0 }

    var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}

/// A log in memory, and the log that its writer prepares.
private struct WrittenLog {
    private let storage: MemoryLog
    private var time: Int64 = 0
    private(set) var working: WorkingLog
    var taken = TakenPaths()

    /// The replica that wrote the log before it was copied (L11).
    static let older = ReplicaID("older")!

    /// - Parameter copied: the events of the older replica's intents.
    init(
        _ kind: LogKind, _ projections: LeanPathTests.Projections, isLean: Bool, _ copied: [Payload]
    ) throws {
        storage = MemoryLog(
            kind: kind, replicas: ReplicaTable([Self.older, ReplicaID("me")!]))
        let set = projections.set
        var shared = SharedConflicts()
        if projections == .sharing { shared.begin(set.notes, at: 0) }
        let attached = set.withRows { [storage] place, rows in
            rows.attach(
                to: storage, number: UInt32(place + 1), format: MoveCodec().format, sequence: 0,
                faults: [])
        }
        var fold = LogFold(of: storage, attached, sharing: shared)
        _ = fold.makePublishedState()
        working = WorkingLog(
            fold, replicas: storage.header.replicas)
        working.isLean = isLean
        working.beginTransaction(isWatched: true)
        for payload in copied {
            let state = working.fold.state
            let recorded = RecordedIntent(
                id: IntentID(replica: Self.older, number: state.nextNumber), payload: payload,
                isConfirmOnly: false, once: nil, retries: nil, info: [:],
                sequence: state.sequence.next, time: Timestamp(millisecondsSince1970: time))
            working.appendEntry(
                .intent(recorded), time: recorded.time, subjects: [:], replica: Self.older)
        }
        _ = working.prepareToPublish()
        try storage.write(working.batch)
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
            let plain = working.fold.state.plainEntry(for: command, at: now)
            taken.note(command, plain, working.fold.state.facts.attempts)
            do throws(CommandError) {
                let result = try working.carryOut(
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
            "\(state.undoneBy) \(state.drafts.map { "\($0.key): \($0.value)" })",
        ]
        lines += state.overlay.map { number, intent in
            let recorded = intent.recorded
            return "\(number) \(intent.state) \(recorded.id) \(recorded.sequence) \(recorded.time) "
                + "\(intent.payload.text) \(recorded.isConfirmOnly) \(recorded.once as Any) "
                + "\(recorded.info.sorted { $0.key < $1.key }) \(recorded.terms)"
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
        return lines + working.fold.state.facts.attempts.map { "\($0.key): \($0.value)" }
    }
}

/// Random commands for a log of a kind, half of them new intents.
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

    /// Returns the events of the first intents, which another replica recorded.
    mutating func copied() -> [Payload] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in payload() }
    }

    /// Returns the commands of one transaction.
    mutating func next(in log: WorkingLog) -> [Step] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in step(in: log) }
    }

    private mutating func step(in log: WorkingLog) -> Step {
        let isForced = random.oneIn(3)
        if random.oneIn(2) { return .command(.record(proposal()), isForced: isForced) }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .command(.record(proposal(once: key())), isForced: isForced)
        case 1: return .command(.recordAll(proposals()), isForced: isForced)
        case 2...3: return .attempt(number(in: log))
        case 4...6 where kind == .downlink: return .command(batch(in: log), isForced: true)
        case 4...11: return .command(answer(in: log), isForced: true)
        default: return .command(change(in: log), isForced: isForced)
        }
    }

    private mutating func key() -> ExactString { random.oneIn(2) ? "x" : "y" }

    /// Returns intents that are recorded together. Only the first can have a once key.
    private mutating func proposals() -> [Proposal] {
        let once = random.oneIn(2) ? key() : nil
        return (0..<Int.random(in: 1...4, using: &random)).map { index in
            proposal(once: index == 0 ? once : nil, mayReplace: false)
        }
    }

    private mutating func proposal(
        once: ExactString? = nil, mayReplace: Bool = true
    ) -> Proposal {
        var info: [String: String] = [:]
        if random.oneIn(4) { info = ["screen": "board", "n": "1"] }
        let terms = IntentTerms(
            isHeld: random.oneIn(6),
            replacingKey: mayReplace && random.oneIn(12) ? "cell" : nil)
        return Proposal(
            payload: payload(), isConfirmOnly: random.oneIn(5), once: once, info: info,
            terms: terms)
    }

    private mutating func payload() -> Payload {
        if random.oneIn(5) {
            let bytes = Array("? \(Int.random(in: 0...9, using: &random))".utf8)
            return AppCodec(codec: MoveCodec()).payload(reading: bytes, format: MoveCodec().format)
        }
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

    /// The same event as a server writes it: in other bytes, if it can be read.
    private mutating func rewritten(_ payload: Payload) -> Payload {
        guard !payload.isUnreadable, random.oneIn(2) else { return payload }
        let comparison = EventComparison { event in
            try MoveCodec().encode(event as? Move ?? .remove("?"))
        }
        return AppCodec(codec: MoveCodec()).payload(
            reading: payload.bytes + Array(" ".utf8), format: payload.format,
            comparison: comparison)
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
        var replacement: Payload?
        if random.oneIn(4) {
            let recorded = log.fold.state.overlay[number]?.recorded.payload
            replacement = random.oneIn(2) ? recorded.map { rewritten($0) } : payload()
        }
        return .acknowledge(number, position: position, replacement: replacement)
    }

    private mutating func change(in log: WorkingLog) -> Command {
        let number = number(in: log)
        if random.oneIn(4) { return .retry(number, with: payload()) }
        return .change(number, IntentCommand.allCases.randomElement(using: &random)!)
    }

    /// A batch that brings the first intents of the overlay as they were recorded, or something
    /// else: also events at or below `through`, and a `through` below the last event.
    private mutating func batch(in log: WorkingLog) -> Command {
        var position = log.fold.state.through.value
        var events: [Confirmed] = []
        let isExact = random.oneIn(2)
        for (_, intent) in log.fold.state.overlay.from(0)
            .prefix(Int.random(in: 0...3, using: &random))
        {
            let least: UInt64 = events.isEmpty && !random.oneIn(8) ? 1 : 0
            position += UInt64.random(in: least...2, using: &random)
            let isOther = !isExact && random.oneIn(2)
            events.append(
                Confirmed(
                    position: Position(position),
                    payload: isOther ? payload() : rewritten(intent.recorded.payload),
                    origin: isOther && random.oneIn(2) ? nil : intent.recorded.id))
        }
        let named = random.oneIn(8) ? max(position, 1) - 1 : position + 1
        let through = random.oneIn(2) ? nil : Position(named)
        return .confirm(isExact ? events : events.shuffled(using: &random), through: through)
    }
}
