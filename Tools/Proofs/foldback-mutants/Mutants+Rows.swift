/// Faults in stored projections.
let rowMutants: [Mutant] = overlayRowMutants + confirmedRowMutants

/// Faults in what intents of the overlay make of rows.
private let overlayRowMutants: [Mutant] = [
    Mutant(
        "a dirty intent is never applied again", rule: "F10", law: .p4,
        at: "reads-compared", .skip(), on: .rows),
    Mutant(
        "an intent that read a range never becomes dirty", rule: "F9", law: .p2,
        at: "range-readers", .fails(), on: .rows),
    Mutant(
        "the next writer of a row does not become dirty", rule: "F10", law: .p4,
        at: "row-readers", .value("ORIGINAL.filter { writers[$0] == nil }"), on: .rows),
    Mutant(
        "a row stays after its intent left", rule: "F10", law: .p8,
        at: "row-unwritten", .skip(), on: .rows),
    Mutant(
        "the overlay removes no rows", rule: "F10", law: .p2,
        at: "overlay-removal", .fails(if: "row.bytes == nil"), on: .rows),
    Mutant(
        "a row read by its key lacks the overlay", rule: "rows", law: .p2,
        at: "row-by-key", .skip(), on: .rows),
    Mutant(
        "a backward scan takes the overlay's rows in forward order", rule: "rows", law: .p2,
        at: "backward-order", .value("key < place"), on: .rows),
    Mutant(
        "listeners miss the rows of a leaving intent", rule: "rows", law: .p2,
        at: "row-change-noted", .skip(), on: .rows),
    Mutant(
        "the read of a row is not noted", rule: "rows", law: .p9,
        at: "read-noted", .skip(), on: .rows),
]

/// Faults in what an entry's own transaction makes of rows.
private let confirmedRowMutants: [Mutant] = [
    Mutant(
        "a transaction does not see its own rows", rule: "L4", law: .p5,
        at: "own-rows", .fails(), on: .rows),
    Mutant(
        "a transaction writes only its first row", rule: "L4", law: .p15,
        at: "row-batch", .value("Array(ORIGINAL.prefix(1))"), on: .rows),
    Mutant(
        "rows are at the first entry when a log is opened", rule: "L4", law: .p10,
        at: "rows-opened", .skip(), on: .rows),
    Mutant(
        "past rows stop one entry early", rule: "F11", law: .p2,
        at: "past-rows", .value("LogSequence(ORIGINAL.value - 1)", if: "sequence > 0"), on: .rows),
    Mutant(
        "a unique index has two rows at one key", rule: "rows", law: .p11,
        at: "unique-index", .holds, on: .rows),
    Mutant(
        "an index keeps a row at its old key", rule: "rows", law: .p11,
        at: "index-removal", .fails(), on: .rows),
    Mutant(
        "rows do not note an event that was read only in part", rule: "E11",
        test: "E11: a device that updates later sees a member that it folded without",
        at: "row-note", .skip()),
    Mutant(
        "rows with only a part of an event are kept by code that reads more", rule: "E11",
        test: "E11: a device that updates later sees a member that it folded without",
        at: "row-event", .holds),
    Mutant(
        "older code writes rows that it reads only in part", rule: "E12",
        test: "E12: a downgrade that changes a row loses no member of it",
        at: "row-members", .value("true")),
]
