/// Faults in what is sent, and in what an answer leads to.
let sendingMutants: [Mutant] = [
    Mutant(
        "a failed attempt is not repeated", rule: "A4", law: .p15,
        at: "try-again", .skip()),
    Mutant(
        "an intent is sent again under another id", rule: "A1", law: .p15,
        at: "submission-id",
        .replace(
            "$0.id",
            with: """
                store.attempt(of: $0.id.number)?.count ?? 0 > 1
                    ? IntentID(
                        replica: $0.id.replica, number: IntentNumber($0.id.number.value + 100))
                    : $0.id
                """)),
    Mutant(
        "an intent is sent before its attempt is recorded", rule: "A5", law: .p15,
        at: "attempts-first", .value("attempts.keys.sorted()")),
    Mutant(
        "a missing verdict settles an intent", rule: "A4", law: .p15,
        at: "no-verdict", .before("replies[id.number] = .settled")),
    Mutant(
        "a postponed intent is rejected", rule: "A4", law: .p15,
        at: "later", .before("try await reject(id.number, message: reason)")),
    Mutant(
        "sending does not resume after signing in", rule: "A4", law: .p15,
        at: "signed-in", .skip()),
    Mutant(
        "coming online is not noticed", rule: "A4", law: .p15,
        at: "went-online", .skip()),
    Mutant(
        "an intent is withdrawn after an attempt", rule: "F7", law: .p15,
        at: "withdrawal", .fails()),
    Mutant(
        "one page of changes counts as all of them", rule: "A2", law: .p15,
        at: "last-page", .holds),
    Mutant(
        "through is one too high", rule: "A2", law: .p15,
        at: "downlink-through", .value("Position(ORIGINAL.value + 1)")),
    Mutant(
        "the authority applies a decided intent again", rule: "A1", law: .p15,
        at: "authority-repeats", .fails()),
    Mutant(
        "the authority forgets its rejections", rule: "A1", law: .p15,
        at: "verdict-kept", .returns("verdict", if: "case .rejected = verdict")),
]
