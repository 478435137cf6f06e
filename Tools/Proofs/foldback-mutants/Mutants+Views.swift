/// Faults in what views show.
let viewMutants: [Mutant] = [
    Mutant(
        "a part that loads hides the failure of another part", rule: "U5",
        test: "U5: all 16 pairs combine by the table", at: "failure-first",
        .skip(if: "state.isLoading")),
    Mutant(
        "a superseded fetch answers", rule: "U8",
        test: "U8: after random steps, the state is what the history says", at: "latest-fetch",
        .value("true")),
    Mutant(
        "the answer of a superseded request ends the present request", rule: "U8",
        test: "U8: a model shows what its latest request says, in any interleaving",
        at: "latest-request", .holds),
    Mutant(
        "a late report feeds the wait of the present request", rule: "U8",
        test: "U8: a late answer and late reports of a superseded request change nothing",
        at: "late-report", .holds),
    Mutant(
        "a wait becomes long a moment after its boundary", rule: "U10",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "phase-boundary",
        .replace("elapsed >= policy.longAfter", with: "elapsed > policy.longAfter")),
    Mutant(
        "an indicator disappears before its minimum time", rule: "U12",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "minimum-visible", .value("shownAt > now")),
    Mutant(
        "an indicator appears after the end of the wait", rule: "U12",
        test: "U12: an indicator that no view has drawn before the end is not drawn after it",
        at: "late-end", .value("now")),
    Mutant(
        "the app's own waits are announced", rule: "U15",
        test: "U15: a wait that the app began is silent", at: "silent-app",
        .value("[.announce(text, politeness)]")),
    Mutant(
        "a stalled wait announces only its first instructions", rule: "U15",
        test: "U15: a stalled wait announces each new instruction", at: "stall-again",
        .replace("stall != before", with: "before == nil")),
    Mutant(
        "an old cue is read aloud", rule: "U15",
        test: "U15: a cue that has waited for more than ten seconds is dropped", at: "stale-cue",
        .skip()),
    Mutant(
        "a wait that nobody looks at takes the announcement of a rejection", rule: "U15",
        test: "U15: a wait that continues in the background leaves a rejection to the model",
        at: "rejection-heard", .replace("run.isWaiting", with: "true")),
    Mutant(
        "a rejection is announced by the model and by its wait", rule: "U15",
        test: "U27: a rejection ends the wait, which alone announces it", at: "news-of-wait",
        .replace("!isTold", with: "true")),
    Mutant(
        "an overlay takes the focus before it appears", rule: "U16",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "overlay", .value("true")),
    Mutant(
        "an overlay that appears again does not take the focus", rule: "U16",
        test: "U16: after a stall, a restart moves the focus when the overlay appears again",
        at: "overlay-again", .replace("!wasOverlayShown", with: "!isFocusTaken")),
    Mutant(
        "a failure moves the focus to the top", rule: "U16",
        test: "U16: without an origin, success goes to the top, and any other end goes back",
        at: "new-screen", .replace("end == .succeeded", with: "true")),
    Mutant(
        "a wait gives back a focus that it has not taken", rule: "U16",
        test: "U16: without an origin, success goes to the top, and any other end goes back",
        at: "focus-taken", .holds),
    Mutant(
        "the input of an old wait ends a newer wait", rule: "U18",
        test: "U18: a late input of an old wait changes nothing", at: "latest-wait", .holds),
    Mutant(
        "an item is in a list twice", rule: "U19",
        test: "U19: a repeated item is an error that names both places",
        at: "list-duplicate-item", .skip()),
    Mutant(
        "slots of placeholders count from the top", rule: "U20",
        test: "U20: slots of placeholders count outward from the content",
        at: "list-placeholder-slots",
        .replace("(0..<start).reversed()", with: "(0..<start).map { $0 }")),
    Mutant(
        "content does not replace a placeholder", rule: "U20",
        test: "U20: content of unknown ids replaces the placeholders in its slots",
        at: "list-replaced-placeholder", .skip()),
    Mutant(
        "a difference has more moves than are needed", rule: "U21",
        test: "U21: only the rows that must move have a move", at: "list-fewest-moves", .skip()),
    Mutant(
        "equal ends of a section count as changed", rule: "U21",
        test: "U21: rows are deleted at old places and inserted at new places",
        at: "list-equal-ends", .skip()),
    Mutant(
        "a single step counts a row that has arrived as waiting", rule: "U21",
        test: "U21: all laws of differences hold for random lists", at: "list-single-steps",
        .skip()),
    Mutant(
        "a lost mark is not a change", rule: "U22",
        test: "U22: confirming a correct prediction changes only the status of rows with its mark",
        at: "list-status-change", .skip()),
    Mutant(
        "a page does not notice changes to its table", rule: "U23",
        test: "U23: pages of a table equal a naive window, after any history",
        at: "page-touched", .skip()),
    Mutant(
        "an answer comes with an older view", rule: "U27",
        test: "U27: an accepted intent is predicted, then confirmed", at: "view-before-news",
        .skip()),
    Mutant(
        "a command returns before its result is shown", rule: "U24",
        test: "U24: when a command returns, the view is at its entry or later",
        at: "read-your-writes", .skip()),
    Mutant(
        "a view is compared with an older view than the one that is shown", rule: "U25",
        test: "U25: a view that changes and changes back is shown", at: "shown-base", .skip()),
    Mutant(
        "models adopt an update that a new model lacks", rule: "U25",
        test:
            "U25: a model that is made before an update is shown is at the others' revision",
        at: "one-revision", .replace("updates[$0.memberID] != nil", with: "true")),
    Mutant(
        "a value that changes back before it is shown is shown again", rule: "U25",
        test: "U25: a value that changes and changes back before it is shown is not shown again",
        at: "relay-shown", .replace("[sent, shown]", with: "[sent]")),
    Mutant(
        "a list keeps the marks of an older revision", rule: "U25",
        test: "U32: a list shows the view and what it lacks, after any history",
        at: "list-marks", .replace("areMarksChanged", with: "false")),
    Mutant(
        "news come with an older view", rule: "U27",
        test: "U27: news come after a view that has them, also before the next frame",
        at: "news-before-view", .skip()),
    Mutant(
        "a conflicted intent has no ghost", rule: "U32",
        test: "U32: a list shows the view and what it lacks, after any history",
        at: "hidden-intents", .replace("conflict != nil", with: "false")),
    Mutant(
        "a ghost that was not placed vanishes", rule: "U32",
        test: "U32: a ghost that the rows function does not place is at the end",
        at: "list-lost-ghost", .skip()),
    Mutant(
        "every commit is shown by itself", rule: "U26",
        test: "U26: the first commit is shown at once, and later commits once for each frame",
        at: "frame", .skip()),
    Mutant(
        "a model keeps its store after the store was closed", rule: "U29",
        test: "U29: a closed store is released, and its last view stays", at: "store-released",
        .skip()),
    Mutant(
        "an intent that may have left can be withdrawn", rule: "U31",
        test: "U31: an attempt takes away the action to withdraw", at: "mark-actions",
        .value("[.withdraw]")),
]
