/// Faults in undo, drafts, replacing, and recording together.
let undoMutants: [Mutant] =
    [
        Mutant(
            "an intent that was sent is taken back", rule: "F21",
            test: "a sent intent is reversed in the view, and both go if the server refuses it",
            at: "undo-attempt", .value("overlay[number]?.state == .pending")),
        Mutant(
            "nothing remembers what was undone", rule: "F21",
            test: "a sent intent is reversed in the view, and both go if the server refuses it",
            at: "undo-link", .skip()),
        Mutant(
            "an undoing outlives what it undoes", rule: "F21",
            test: "a sent intent is reversed in the view, and both go if the server refuses it",
            at: "lapsed", .skip()),
        Mutant(
            "an undoing does not come back", rule: "F21",
            test: "a batch that brings a refused intent back brings back what undoes it",
            at: "restored", .skip()),
        Mutant(
            "undo reverses what the intent was recorded on", rule: "F21",
            test: "the inverse is that of what the view shows below the intent",
            at: "folded-inverse", .skip()),
        Mutant(
            "undo guesses after other words", rule: "F21",
            test: "an event that the server reworded is not undone by guessing",
            at: "reworded", .fails()),
        Mutant(
            "what undoes a conflicted intent is folded alone", rule: "F21",
            test: "what undoes a conflicted intent is in the view once that one is",
            at: "undo-of-conflicted", .value("nil")),
        Mutant(
            "what undoes a confirmed conflict stays out", rule: "F21",
            test: "what undoes a conflicted intent is in the view once that one is",
            at: "undo-folded", .skip()),
        Mutant(
            "rows do not follow the decision on the undone intent", rule: "F21",
            test: "rows leave out what undoes a conflicted intent",
            at: "undo-dirty", .skip()),
        Mutant(
            "undo takes the first of several first", rule: "F21",
            test: "undoing several sent intents records one action, the last first",
            at: "undo-order", .value("members")),
        Mutant(
            "redo brings back what was withdrawn alone", rule: "F21",
            test: "an action of several intents is undone and redone as one",
            at: "redo-undone", .holds),
        Mutant(
            "an undoing is sent before the undone intent has an answer", rule: "F21",
            test: "what undoes an intent is sent after that intent has an answer",
            at: "after-undone", .value("false")),
        Mutant(
            "a brought undoing undoes nothing", rule: "N6",
            test: "drafts, groups and undoings come along to the new log",
            at: "brought-undo", .value("nil")),
        Mutant(
            "a draft that was released meanwhile stays held", rule: "N6",
            test: "a draft that was released meanwhile is released in the new log",
            at: "brought-release", .skip()),
        Mutant(
            "an undoing is brought without what it undoes", rule: "N6",
            test: "what undoes an intent that stays behind stays behind",
            at: "vain-undoing", .skip()),
    ] + draftMutants

private let draftMutants: [Mutant] = [
    Mutant(
        "what was sent is replaced", rule: "F16",
        test: "what was sent, or has a later change on it, is not replaced",
        at: "replaced-attempt", .holds),
    Mutant(
        "a once key of another intent is recorded again", rule: "F16",
        test: "another intent with the once key is joined, and nothing is replaced",
        at: "replaced-once", .fails()),
    Mutant(
        "rows do not show what replaces an intent", rule: "F16",
        test: "rows show what replaces an intent", at: "replaced-view", .skip()),
    Mutant(
        "any intent is released", rule: "F22",
        test: "a draft is in the view, and is not sent before it is released",
        at: "released-held", .holds),
    Mutant(
        "a draft is attempted", rule: "F22",
        test: "a draft is in the view, and is not sent before it is released",
        at: "attempted-draft", .holds),
    Mutant(
        "joining a draft leaves it held", rule: "F22",
        test: "joining a draft by its once key releases it",
        at: "joined-draft", .value("[]")),
    Mutant(
        "an intent in a request waits again", rule: "F22",
        test: "the outbox keeps its properties under random inputs",
        at: "in-request", .value("false")),
    Mutant(
        "an intent whose request failed waits as before", rule: "F22",
        test: "the outbox keeps its properties under random inputs",
        at: "terms-again", .skip()),
    Mutant(
        "a change of a draft is sent before it", rule: "F22",
        test: "what touches a draft waits for it, and nothing else does",
        at: "after-draft", .value("false")),
    Mutant(
        "a part of an action is recorded", rule: "F20",
        test: "several events are recorded as one action, or not at all",
        at: "all-or-none", .skip()),
    Mutant(
        "the intents of an action are not tied", rule: "F20",
        test: "several events are recorded as one action, or not at all",
        at: "group", .skip()),
    Mutant(
        "an action is withdrawn although a part was sent", rule: "F20",
        test: "an action is withdrawn as one, unless a part may have left",
        at: "withdrawn-all", .holds),
]
