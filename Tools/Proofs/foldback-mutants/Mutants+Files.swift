/// Faults in how a log treats its files, and in what readers see beside the writer.
let fileMutants: [Mutant] = [
    Mutant(
        "hard links are not counted", rule: "L8", probe: .linkedFile,
        at: "hard-links", .value("nil")),
    Mutant(
        "another file at the path is not noticed", rule: "L6", probe: .replacedFile,
        at: "file-identity", .holds),
    Mutant(
        "a file of zeros is taken for damage", rule: "L10", probe: .unfinishedFile,
        at: "zero-page", .fails()),
    Mutant(
        "a named replica gets no random part", rule: "A1", probe: .wipedLog,
        at: "unique-replica", .value("\"-\"")),
    Mutant(
        "a wipe discards pending intents unasked", rule: "BK7", probe: .wipeOfPending,
        at: "wipe-pending", .holds),
    Mutant(
        "a wipe does not look for files of others", rule: "BK7", probe: .wipeAmongOthers,
        at: "wipe-foreign", .holds),
    Mutant(
        "the checkpoint policy removes the base", rule: "C5",
        test: "C2, C3, C7: a compacted log shows the same as the reference model",
        at: "base-policy",
        .skip()),
    Mutant(
        "a compaction keeps no rejected intent", rule: "C4", law: .p19, at: "kept-settled",
        .skip()),
    Mutant(
        "an update loses the entries that it needs when it opens", rule: "C10",
        test: "C6, C10: what the code of an update needs is not removed by its first opening",
        at: "prepared-states", .holds),
    Mutant(
        "what a new base confirms has no verdict", rule: "C11",
        test: "a log that begins from a state goes on as if it had fetched the events",
        at: "begun-verdict", .skip()),
    Mutant(
        "a backup replaces another log", rule: "BK1",
        test: "BK1: a backup replaces nothing that it lacks", at: "other-backup", .holds),
    Mutant(
        "a copied log withdraws what the original may have sent", rule: "BK2",
        test: "BK2: in a backup, pending intents count as sent", at: "copied-intent",
        .fails()),
    Mutant(
        "finishing wipes takes every closed log for a wiped log", rule: "BK7",
        probe: .wipeOfOthers, at: "wiped-name", .holds),
    Mutant(
        "the writer waits for callers that do not come back", rule: "L3", probe: .absentCallers,
        at: "absent-callers", .holds),
    Mutant(
        "nobody joins a transaction", rule: "L3",
        test: "L3: a caller that the writer has just resumed joins the transaction",
        at: "nobody-joins", .returns("[]")),
    Mutant(
        "a canceled caller records", rule: "L3", probe: .canceledCaller,
        at: "canceled-caller", .holds),
    Mutant(
        "the first write does not wait for the check of the file's pages", rule: "L5",
        test: "a used page in the list of free pages is found before the first change",
        at: "page-check", .skip()),
    Mutant(
        "the finding of the check of pages does not latch the store", rule: "L5",
        probe: .damagedPage, at: "page-finding", .skip()),
    Mutant(
        "rows do not wait for the view", rule: "F15", probe: .firstRows,
        at: "rows-ahead", .value("true")),
    Mutant(
        "a checkpoint does not say that it lacks an event", rule: "E6", probe: .learnedEvent,
        at: "unread-events", .skip()),
    Mutant(
        "a learned event is ignored", rule: "E6", probe: .learnedEvent,
        at: "learned-event", .fails()),
    Mutant(
        "a checkpoint does not list the events that it has only in part", rule: "E11",
        test: "E11: a device that updates later sees a member that it folded without",
        at: "partly-read", .skip()),
    Mutant(
        "a learned member is ignored", rule: "E11",
        test: "E11: a device that updates later sees a member that it folded without",
        at: "learned-member", .value("nil")),
    Mutant(
        "older code continues a state that it reads only in part", rule: "E12",
        test: "E12: a downgrade that changes a row loses no member of it",
        at: "state-part", .holds),
    Mutant(
        "a fault for a reason that nobody saw counts as seen", rule: "F9",
        test: "a mark covers only what was shown", at: "seen-reason", .value("true")),
    Mutant(
        "the anchor is dropped", rule: "E6", probe: .droppedAnchor,
        at: "anchor", .value("false")),
    Mutant(
        "parts that are equal again end no difference", rule: "P16", probe: .endOfDifference,
        at: "equal-parts", .fails()),
    Mutant(
        "parts that miss a difference are trusted", rule: "P16", probe: .hiddenDifference,
        at: "parts-check", .fails()),
]
