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
        "a wait becomes long a moment after its boundary", rule: "U10",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "phase-boundary",
        .replace("elapsed >= policy.longAfter", with: "elapsed > policy.longAfter")),
    Mutant(
        "an indicator disappears before its minimum time", rule: "U12",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "minimum-visible", .value("shownAt > now")),
    Mutant(
        "the app's own waits are announced", rule: "U15",
        test: "U15: a wait that the app began is silent", at: "silent-app",
        .value("[.announce(text, politeness)]")),
    Mutant(
        "an overlay takes the focus before it appears", rule: "U16",
        test: "U10 to U17: a wait looks and sounds like one that looks at each millisecond",
        at: "overlay", .value("true")),
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
