/// Faults in what an entry means.
let entryMutants: [Mutant] = [
    Mutant(
        "a batch confirms in an acknowledgement log", rule: "F2", law: .p2,
        at: "batch-source", .holds),
    Mutant(
        "through confirms nothing", rule: "F3", law: .p2,
        at: "accepted-through", .fails()),
    Mutant(
        "the overlay drops a replacement", rule: "F3", law: .p2,
        at: "overlay-payload", .nilOperand),
    Mutant(
        "an acknowledgement log drops a replacement", rule: "F4", law: .p5,
        at: "confirmed-payload", .nilOperand),
    Mutant(
        "a batch is applied in the order in which it came", rule: "F5", law: .p2,
        at: "batch-order", .holds),
    Mutant(
        "a position is applied twice", rule: "F6", law: .p7,
        at: "applied-once", .holds),
    Mutant(
        "a skipped event confirms nothing", rule: "F6", law: .p2,
        at: "skipped-event", .returns("false", if: "event.position <= through")),
    Mutant(
        "a confirmed event is applied twice", rule: "F3", law: .p5,
        at: "batch-effects", .after("effects.fold.confirm += effects.fold.confirm")),
]

/// Faults in how a command is decided, and in what an answer changes.
let answerMutants: [Mutant] = [
    Mutant(
        "a repeated acknowledgement is recorded", rule: "F7", law: .p7,
        at: "repeated-acknowledgement", .skip()),
    Mutant(
        "an acknowledgement overrides nothing", rule: "F7", law: .p2,
        at: "late-acknowledgement", .returns(".ignore(intent.state)")),
    Mutant(
        "a rejection takes back an accepted intent", rule: "F7", law: .p2,
        at: "late-rejection",
        .value(
            ".append([.changed(number, .rejected(rejection))])", if: "intent.state == .accepted")),
    Mutant(
        "an intent is withdrawn after an attempt", rule: "F7", law: .p2,
        at: "withdrawal", .fails()),
    Mutant(
        "an answer leaves the attempts", rule: "F7", law: .p2,
        at: "attempts-end", .skip()),
    Mutant(
        "an attempt of a settled intent counts", rule: "F7", law: .p2,
        at: "attempted", .holds),
    Mutant(
        "a pending intent cannot be abandoned", rule: "F19", law: .p2,
        at: "abandoned", .value(".refuse(.notPending(number, intent.state))")),
    Mutant(
        "only the oldest intent can be answered", rule: "F8", law: .p8,
        at: "answer-order", .returns(".ignore(.pending)", if: "overlay.first?.key != number")),
    Mutant(
        "a rejection rolls nothing back", rule: "F10", law: .p4,
        at: "roll-back", .skip()),
    Mutant(
        "a batch rebases nothing", rule: "F9", law: .p2,
        at: "rebase", .skip()),
    Mutant(
        "a conflicted intent stays conflicted forever", rule: "F9", law: .p2,
        at: "conflict-noted", .value("ORIGINAL ?? conflicted[number]")),
    Mutant(
        "a conflicted intent is lost", rule: "F9", law: .p12,
        at: "pending-numbers", .value("ORIGINAL.filter { folded.conflicted[$0] == nil }")),
    Mutant(
        "changes before a throw are kept", rule: "F9", law: .p2,
        at: "guarded-throw", .skip(), on: .changesFirst),
    Mutant(
        "a confirm-only intent is folded", rule: "F13", law: .p2,
        at: "confirm-only", .value("true")),
    Mutant(
        "a double tap is recorded twice", rule: "F14", law: .p2,
        at: "once-key", .value("nil")),
    Mutant(
        "the lean path shows no intent that is forced", rule: "F9", law: .p2,
        at: "plain-view", .fails()),
    Mutant(
        "the lean path accepts nothing", rule: "F3", law: .p2,
        at: "plain-acceptance", .skip()),
    Mutant(
        "the lean path confirms an intent without its event", rule: "F4", law: .p5,
        at: "plain-confirmation", .skip()),
    Mutant(
        "the lean path of batches forgets through", rule: "F6", law: .p2,
        at: "plain-through", .skip()),
    Mutant(
        "the lean path of batches leaves intents that through confirms", rule: "F3", law: .p2,
        at: "plain-batch", .holds),
    Mutant(
        "the lean path writes an acceptance without its position", rule: "L4",
        test: "the lean paths and the general path write the same bytes and leave the same state",
        at: "plain-bytes",
        .value(
            ".acknowledged(Acknowledged(number: intent.recorded.number, position: nil, "
                + "replacement: nil, settles: false))")),
    Mutant(
        "the general path writes an acceptance without its position", rule: "L4",
        test: "the lean paths and the general path write the same bytes and leave the same state",
        at: "recorded-bytes",
        .value(
            "Acknowledged(number: number, position: nil, replacement: replacement, "
                + "settles: settles)")),
    Mutant(
        "the general path shows no intent that is forced", rule: "F9", law: .p2,
        at: "recorded-view", .skip()),
    Mutant(
        "a retry dismisses nothing", rule: "F14", law: .p2,
        at: "retry-dismisses", .fails()),
    Mutant(
        "an edited retry records the old event again", rule: "F14", law: .p2,
        at: "edited-event", .nilOperand),
]

/// Faults in what is stored, and in when it is seen.
let storageMutants: [Mutant] = [
    Mutant(
        "a view is published before the commit", rule: "F15", law: .p10,
        at: "before-commit",
        .after("if let next { publication.change { $0 = next } }")),
    Mutant(
        "answers that are recorded one by one come before their caller resumes", rule: "F15",
        test: "F15: the caller of a request is resumed before its answers are delivered",
        at: "apart-order", .before("publication.deliver(answered)")),
    Mutant(
        "every third view is published late", rule: "F15", law: .p2,
        at: "publish", .skip(if: "next.sequence.value % 3 == 0 && working.answered.isEmpty")),
    Mutant(
        "an entry's record is not written", rule: "L2", law: .p10,
        at: "record-write",
        .value(
            "tables[write.table.rawValue].values[.number(1)]",
            if: "write.table == .entries && write.key == .number(2)")),
    Mutant(
        "the lean path of answers writes no verdict", rule: "L4", law: .p12,
        at: "plain-verdict", .skip()),
    Mutant(
        "a verdict is not written", rule: "L4", law: .p12,
        at: "verdict-write", .skip()),
    Mutant(
        "past views stop one entry early", rule: "F11", law: .p2,
        at: "past-view", .value("LogSequence(ORIGINAL.value - 1)", if: "sequence > 0")),
    Mutant(
        "conflicts that are not decided yet count as known", rule: "F11",
        test: "F11: a past value by the notes is that of a fold from the first entry",
        at: "conflict-undecided", .skip()),
    Mutant(
        "verify accepts other conflicts", rule: "F11",
        test: "verify finds a note that differs, and one that is damaged",
        at: "conflicts-verified", .fails()),
    Mutant(
        "a checkpoint drops replacements", rule: "L4", law: .p3,
        at: "checkpoint-replacement", .value("nil")),
    Mutant(
        "a number is used again after a checkpoint", rule: "A1", law: .p3,
        at: "checkpoint-number",
        .value("IntentNumber(ORIGINAL.value - 1)", if: "overlay.isEmpty && nextNumber > 1")),
]
