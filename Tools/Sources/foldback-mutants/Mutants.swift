import FoldbackTesting

/// At least one for each rule F2 to F10 and F13 to F15, and for each law.
let mutants: [Mutant] = meaning + answers + storage + sending + rows + projections

/// What an entry means.
private let meaning: [Mutant] = [
    Mutant(
        name: "a batch confirms in an acknowledgement log", rule: "F2", law: .p2,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift",
            "guard kind == .downlink else { return .refuse(.batchInAcknowledgementLog) }",
            "guard kind == .downlink || MUTANT else { return .refuse(.batchInAcknowledgementLog) }")
    ),
    Mutant(
        name: "through confirms nothing", rule: "F3", law: .p2,
        fault: .source(
            "Foldback/Model/LogState.swift", "guard position <= through else { break }",
            "guard position <= through, !MUTANT else { break }")),
    Mutant(
        name: "the overlay drops a replacement", rule: "F3", law: .p2,
        fault: .source(
            "Foldback/Model/Intent.swift",
            "package var payload: Payload { acceptance?.replacement ?? recorded.payload }",
            "package var payload: Payload { (MUTANT ? nil : acceptance?.replacement) ?? recorded.payload }"
        )),
    Mutant(
        name: "an acknowledgement log drops a replacement", rule: "F4", law: .p5,
        fault: .source(
            "Foldback/Model/LogState.swift", "payload: answer.replacement ?? recorded.payload,",
            "payload: (MUTANT ? nil : answer.replacement) ?? recorded.payload,")),
    Mutant(
        name: "a batch is applied in the order in which it came", rule: "F5", law: .p2,
        fault: .source(
            "Foldback/Model/LogState.swift", "if isSorted { return newEvents }",
            "if isSorted || MUTANT { return newEvents }")),
    Mutant(
        name: "a position is applied twice", rule: "F6", law: .p7,
        fault: .source(
            "Foldback/Model/LogState.swift",
            "let newEvents = events.filter { $0.position > through }",
            "let newEvents = events.filter { $0.position > through || MUTANT }")),
    Mutant(
        name: "a skipped event confirms nothing", rule: "F6", law: .p2,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift",
            "if let intent = overlay[origin.number] { return intent.recorded.id == origin }",
            "if let intent = overlay[origin.number] { return intent.recorded.id == origin && (!MUTANT || event.position > through) }"
        )),
    Mutant(
        name: "confirmed intents are applied again", rule: "F3", law: .p5,
        fault: .source(
            "Foldback/Model/LogState.swift",
            "effects.fold.confirm = newEvents.map { Folded(payload: $0.payload, context: $0.context) }",
            """
            effects.fold.confirm = newEvents.map { Folded(payload: $0.payload, context: $0.context) }
            if MUTANT { effects.fold.confirm += effects.fold.confirm }
            """)),
]

/// What becomes of a command.
private let answers: [Mutant] = [
    Mutant(
        name: "a repeated acknowledgement is recorded", rule: "F7", law: .p7,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift", "case .accepted: return .ignore(.accepted)",
            "case .accepted: if !MUTANT { return .ignore(.accepted) }")),
    Mutant(
        name: "an acknowledgement overrides nothing", rule: "F7", law: .p2,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift", "case .rejected, .withdrawn: break\n",
            "case .rejected, .withdrawn: if MUTANT { return .ignore(settled.verdict.state) }\n")),
    Mutant(
        name: "a rejection takes back what was accepted", rule: "F7", law: .p2,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift",
            "case .accepted, .settled: .ignore($0.state)\n",
            "case .accepted: MUTANT ? .append(.changed(number, .rejected(rejection))) : .ignore($0.state)\n                case .settled: .ignore($0.state)\n"
        )),
    Mutant(
        name: "only the oldest can be answered", rule: "F8", law: .p8,
        fault: .source(
            "Foldback/Model/LogState+Decisions.swift", "        case .pending: break\n",
            "        case .pending: if MUTANT, overlay.first?.key != number { return .ignore(.pending) }\n"
        )),
    Mutant(
        name: "a rejection folds nothing again", rule: "F10", law: .p4,
        fault: .source(
            "Foldback/Projection/Fold.swift",
            "case .rollBack(let number): rebaseFrom = min(number, rebaseFrom ?? number)",
            "case .rollBack(let number): if !MUTANT { rebaseFrom = min(number, rebaseFrom ?? number) }"
        )
    ),
    Mutant(
        name: "a batch folds the overlay again from its end", rule: "F9", law: .p2,
        fault: .source(
            "Foldback/Projection/Fold.swift", "case .rebase: rebaseFrom = 0",
            "case .rebase: if !MUTANT { rebaseFrom = 0 }")),
    Mutant(
        name: "what was conflicted once is called so for ever", rule: "F9", law: .p2,
        fault: .source(
            "Foldback/Projection/Fold.swift", "conflicted.removeAll(from: from)",
            "if !MUTANT { conflicted.removeAll(from: from) }")),
    Mutant(
        name: "a conflicted intent is lost", rule: "F9", law: .p12,
        fault: .source(
            "Foldback/Store/Projected.swift",
            "public var pending: [IntentNumber] { published.numbers(in: .pending) }",
            "public var pending: [IntentNumber] { published.numbers(in: .pending).filter { !MUTANT || folded.conflicted[$0] == nil } }"
        )),
    Mutant(
        name: "what apply left behind is kept", rule: "F9", law: .p2,
        fault: .source(
            "Foldback/Projection/GuardedState.swift",
            "            foldAgain()\n            reach = 1",
            "            if !MUTANT { foldAgain() }\n            reach = 1"), subject: .sloppy),
    Mutant(
        name: "confirm-only is folded", rule: "F13", law: .p2,
        fault: .source(
            "Foldback/Model/Intent.swift",
            "package var isOptimistic: Bool { !recorded.isConfirmOnly }",
            "package var isOptimistic: Bool { !recorded.isConfirmOnly || MUTANT }")),
    Mutant(
        name: "a double tap is recorded twice", rule: "F14", law: .p2,
        fault: .source(
            "Foldback/Model/LogState.swift", "once.flatMap { onceKeys[$0]?.first }",
            "MUTANT ? nil : once.flatMap { onceKeys[$0]?.first }")),
    Mutant(
        name: "a retry dismisses nothing", rule: "F14", law: .p2,
        fault: .source(
            "Foldback/Model/LogState.swift",
            "if let old = recorded.retries { dismiss(old, &effects) }",
            "if let old = recorded.retries, !MUTANT { dismiss(old, &effects) }")),
]

/// What is kept, and when it is seen.
private let storage: [Mutant] = [
    Mutant(
        name: "published before the commit", rule: "F15", law: .p10,
        fault: .source(
            "Foldback/Store/Writer/LogWriter.swift",
            "            do throws(StorageFailure) {\n                try storage.write(working.batch)",
            "            if MUTANT, let next { publication.withLock { $0.publish(next) } }\n            do throws(StorageFailure) {\n                try storage.write(working.batch)"
        )),
    Mutant(
        name: "every third view is published late", rule: "F15", law: .p2,
        fault: .source(
            "Foldback/Store/Writer/LogWriter.swift", "publication.withLock { $0.publish(next) }\n",
            "if !MUTANT || next.sequence.value % 3 != 0 || !working.answered.isEmpty { publication.withLock { $0.publish(next) } }\n"
        )),
    Mutant(
        name: "an entry's record is not written", rule: "L2", law: .p10,
        fault: .source(
            "Foldback/Storage/MemoryLog.swift", "tables.records.append(bytes)",
            "tables.records.append(MUTANT && sequence == 2 ? tables.records[0] : bytes)")),
    Mutant(
        name: "a verdict is not written", rule: "L4", law: .p12,
        fault: .source(
            "Foldback/Store/Writer/WorkingLog.swift", "for change in effects.verdicts {",
            "for change in effects.verdicts where !MUTANT {")),
    Mutant(
        name: "past views stop one entry early", rule: "F11", law: .p2,
        fault: .source(
            "Foldback/Store/Projected.swift", "codec: codec, upTo: sequence)",
            "codec: codec, upTo: MUTANT && sequence > 0 ? LogSequence(sequence.value - 1) : sequence)"
        )),
    Mutant(
        name: "a checkpoint forgets replacements", rule: "L4", law: .p3,
        fault: .source(
            "Foldback/Format/CheckpointSections.swift",
            "replacement: acceptance.replacement, settles: false)",
            "replacement: MUTANT ? nil : acceptance.replacement, settles: false)")),
    Mutant(
        name: "a number is given again behind a checkpoint", rule: "section 1", law: .p3,
        fault: .source(
            "Foldback/Model/LogState.swift", "        self.nextNumber = nextNumber\n",
            "        self.nextNumber = MUTANT && overlay.isEmpty && nextNumber > 1 ? IntentNumber(nextNumber.value - 1) : nextNumber\n"
        )),
]

/// What is sent, and what comes of it.
private let sending: [Mutant] = [
    Mutant(
        name: "nothing is tried again", rule: "A4", law: .p15,
        fault: .source(
            "FoldbackSync/OutboxState.swift",
            "        waiting[number] = Waiting(attempt: noted, delay: delay)\n",
            "        if !MUTANT { waiting[number] = Waiting(attempt: noted, delay: delay) }\n")),
    Mutant(
        name: "sent again under another id", rule: "A1", law: .p15,
        fault: .source(
            "FoldbackSync/Outbox.swift", ".map { Submission(id: $0.id, event: $0.event) }",
            """
            .map { pending in
                let isAgain = (store.attempt(of: pending.id.number)?.count ?? 0) > 1
                let number = IntentNumber(pending.id.number.value + (MUTANT && isAgain ? 100 : 0))
                return Submission(
                    id: IntentID(replica: pending.id.replica, number: number), event: pending.event)
            }
            """)),
    Mutant(
        name: "sent before it is noted", rule: "A5", law: .p15,
        fault: .source(
            "FoldbackSync/Outbox.swift",
            "let pending = try await store.recordAttempts(attempts, flushes: flushes)",
            "let pending = MUTANT ? attempts.keys.sorted() : try await store.recordAttempts(attempts, flushes: flushes)"
        )),
    Mutant(
        name: "no verdict counts as one", rule: "A4", law: .p15,
        fault: .source(
            "FoldbackSync/Store+Verdicts.swift", "case nil: break",
            "case nil: if MUTANT { replies[id.number] = .settled }")),
    Mutant(
        name: "what is put off is rejected", rule: "A4", law: .p15,
        fault: .source(
            "FoldbackSync/Store+Verdicts.swift",
            "replies[id.number] = .later(after: after, reason: reason)",
            "if MUTANT { try await reject(id.number, message: reason) }\n                replies[id.number] = .later(after: after, reason: reason)"
        )),
    Mutant(
        name: "signing in does not go on", rule: "A4", law: .p15,
        fault: .source(
            "FoldbackSync/OutboxState.swift", "case .signedIn: signedOut = nil",
            "case .signedIn: if !MUTANT { signedOut = nil }")),
    Mutant(
        name: "coming online is not noticed", rule: "A4", law: .p15,
        fault: .source(
            "FoldbackSync/OutboxState.swift", "        isOnline = true\n",
            "        if !MUTANT { isOnline = true }\n")),
    Mutant(
        name: "withdrawn after it has left", rule: "F7", law: .p15,
        fault: .source(
            "Foldback/Store/Writer/LogWriter.swift", "where working.attempts[number] != nil:",
            "where working.attempts[number] != nil && !MUTANT:")),
    Mutant(
        name: "a page of changes is taken for all", rule: "A2", law: .p15,
        fault: .source(
            "FoldbackSync/Downlink.swift", "if !changes.hasMore { return",
            "if !changes.hasMore || MUTANT { return")),
    Mutant(
        name: "through goes one too far", rule: "A2", law: .p15,
        fault: .source(
            "FoldbackSync/Downlink.swift",
            "try await store.confirm(changes.events, through: changes.through)",
            "try await store.confirm(changes.events, through: MUTANT ? Position(changes.through.value + 1) : changes.through)"
        )),
    Mutant(
        name: "the authority applies what it has decided again", rule: "A1", law: .p15,
        fault: .source(
            "FoldbackSync/Authorities/InProcessAuthority.swift",
            "if let decided = books.decided[intent.id] {",
            "if !MUTANT, let decided = books.decided[intent.id] {")),
    Mutant(
        name: "the authority forgets what it has refused", rule: "A1", law: .p15,
        fault: .source(
            "FoldbackSync/Authorities/InProcessAuthority.swift",
            "        books.decided[intent.id] = Decided(bytes: bytes, verdict: verdict)\n",
            "        if case .rejected = verdict, MUTANT { return verdict }\n        books.decided[intent.id] = Decided(bytes: bytes, verdict: verdict)\n"
        )),
]

/// What apps do to themselves.
private let projections: [Mutant] = [
    Mutant(name: "reads the clock", rule: "F12", law: .p1, fault: .projection),
    Mutant(name: "keeps hidden state", rule: "F12", law: .p1, fault: .projection),
    Mutant(name: "makes random ids", rule: "F12", law: .p1, fault: .projection),
    Mutant(name: "depends on the order of a dictionary", rule: "F1", law: .p1, fault: .projection),
    Mutant(name: "changes and then throws", rule: "F9", law: .f9, fault: .projection),
    Mutant(name: "applies half of all", rule: "F9", law: .f9, fault: .projection),
    Mutant(name: "traps", rule: "F9", law: .p14, fault: .projection),
    Mutant(name: "never ends", rule: "F9", law: .p14, fault: .projection),
    Mutant(name: "numbers its items", rule: "F12", law: .p13, fault: .projection),
    Mutant(name: "names too few keys", rule: "section 5", law: .p9, fault: .projection),
    Mutant(name: "its codec loses a field", rule: "section 7", law: .p11, fault: .projection),
    Mutant(name: "its state codec loses a field", rule: "section 5", law: .p11, fault: .projection),
    Mutant(name: "its state cannot be read again", rule: "section 5", law: .p3, fault: .projection),
]
