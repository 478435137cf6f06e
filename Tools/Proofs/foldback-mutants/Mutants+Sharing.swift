/// Faults in what projections make of shared conflicts.
let sharingMutants: [Mutant] = [
    Mutant(
        "rows show an intent that another projection refuses", rule: "F9", law: .p2,
        at: "shared-rows", .value("false"), on: .sharing),
    Mutant(
        "a confirmed intent that another projection refused stays out of the view", rule: "F9",
        law: .p2, at: "shared-fast-forward", .fails(), on: .sharing),
    Mutant(
        "a value keeps an intent that the next value refuses", rule: "F9", law: .p2,
        at: "shared-undo", .skip(), on: .sharingValues),
    Mutant(
        "the note of who shares conflicts is ignored", rule: "F1", law: .p2,
        at: "shared-period", .value("nil"), on: .sharing),
]
