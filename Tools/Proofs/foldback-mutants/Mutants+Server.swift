/// Faults of a server.
let serverMutants: [Mutant] = [
    Mutant(
        "a server does not look up what it has decided", rule: "N4",
        test: "N4: a repeated intent gets its first verdict, also after a restart",
        at: "decided-before", .skip()),
    Mutant(
        "a postponed intent does not end its request", rule: "N5",
        test: "N5: the first postponed intent ends its request, and nothing is kept of it",
        at: "first-later", .skip()),
    Mutant(
        "a copied space keeps its lineage", rule: "N6",
        test: "N6: a copy has a new lineage, unless it is adopted",
        at: "copied-space", .replace("known.replica == status.replica", with: "true")),
    Mutant(
        "a device with another digest is served", rule: "N6",
        test: "N6: a space on an older image supersedes a device that has more",
        at: "other-digest", .holds),
    Mutant(
        "a log keeps the digest of data that it cannot tell apart", rule: "N6",
        test: "N6: a device that cannot see the difference goes on",
        at: "kept-digest", .skip()),
    Mutant(
        "a log sends the digest of an earlier position", rule: "N6",
        test: "N6: a log sends the digest of what it covers, also after a restart",
        at: "stale-digest", .replace("$0.through == through", with: "true")),
    Mutant(
        "everybody sees every effect", rule: "N8",
        test: "N8: an account sees its own effects, and others what the rules show",
        at: "shown-effects",
        .replace("rules.shows($0.effect.event, to: account)._isShown", with: "true")),
    Mutant(
        "an account uses the replica of another account", rule: "N10",
        test: "N10: a replica belongs to the account that used it first",
        at: "replica-owner", .replace("owner == ticket.account", with: "true")),
    Mutant(
        "a server answers although another one was faster", rule: "N1",
        test: "N1: a server decides on what another one has decided",
        at: "lost-append", .replace("append(group)", with: "CommitEnd.kept")),
    Mutant(
        "a server believes what it read from a machine that was replaced", rule: "N2",
        test: "N2: what was read before a standby took over does not count",
        at: "other-timeline", .replace("timeline == page.timeline", with: "timeline > 0")),
    Mutant(
        "a server that lags supersedes a device", rule: "N6",
        test: "N6: a server that lags answers a device that knows more",
        at: "ahead-device", .replace("device.through > head", with: "false")),
    Mutant(
        "a server does not compare its log with the table", rule: "N6",
        test: "N6: decisions that the table lost stop every server until a new lineage",
        at: "own-head", .replace("isSame", with: "isSame || head.position > 0")),
    Mutant(
        "a server without a log serves a new timeline", rule: "N6",
        test: "N6: a server with a log vouches for a new timeline, and one without does not",
        at: "new-timeline", .replace("timeline == page.timeline", with: "timeline > 0")),
]
