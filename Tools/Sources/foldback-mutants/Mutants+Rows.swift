/// What stored projections make of entries.
let rows: [Mutant] = overlayRows + confirmedRows

/// Of the intents in the overlay.
private let overlayRows: [Mutant] = [
    Mutant(
        name: "whoever looks again finds the same", rule: "F10", law: .p4,
        fault: .source(
            "Foldback/Rows/RowOverlay.swift",
            "guard let evaluation = evaluations[number] else { return false }",
            "guard let evaluation = evaluations[number] else { return false }\n        if MUTANT { return true }"
        ), subject: .rows),
    Mutant(
        name: "whoever asked for a range does not look again", rule: "F9", law: .p2,
        fault: .source(
            "Foldback/Rows/RowOverlay.swift",
            "where spans.contains(where: { $0.contains(key) }) { due[reader] = true }",
            "where spans.contains(where: { $0.contains(key) }) { if !MUTANT { due[reader] = true } }"
        ), subject: .rows),
    Mutant(
        name: "the next who changes a row does not look again", rule: "F10", law: .p4,
        fault: .source(
            "Foldback/Rows/RowChain.swift",
            "readers.numbers(behind: number, through: makers.first(behind: number)?.key)",
            "readers.numbers(behind: number, through: makers.first(behind: number).map { MUTANT ? IntentNumber($0.key.value - 1) : $0.key })"
        ), subject: .rows),
    Mutant(
        name: "a row stays though who made it leaves", rule: "F10", law: .p8,
        fault: .source(
            "Foldback/Rows/RowOverlay.swift", "change(key) { $0.makers[number] = nil }",
            "if !MUTANT { change(key) { $0.makers[number] = nil } }"), subject: .rows),
    Mutant(
        name: "the overlay removes no rows", rule: "F10", law: .p2,
        fault: .source(
            "Foldback/Rows/MergedRows.swift", "if place == key { return true }",
            "if place == key, !MUTANT || row.bytes != nil { return true }"), subject: .rows),
    Mutant(
        name: "by its key a row is as it is confirmed", rule: "section 6", law: .p2,
        fault: .source(
            "Foldback/Rows/MergedRows.swift", "let row = folded.chains[key]?.visible {",
            "let row = folded.chains[key]?.visible, !MUTANT {"), subject: .rows),
    Mutant(
        name: "backwards the overlay's rows come in another order", rule: "section 6", law: .p2,
        fault: .source(
            "Foldback/Rows/MergedRows.swift", "backwards ? place < key : key < place",
            "backwards && !MUTANT ? place < key : key < place"), subject: .rows),
    Mutant(
        name: "nobody is told of rows that a leaving intent made", rule: "section 6", law: .p2,
        fault: .source(
            "Foldback/Rows/RowFold.swift", "overlay.leave(number) { note($0, $1) }",
            "overlay.leave(number) { if !MUTANT { note($0, $1) } }"), subject: .rows),
    Mutant(
        name: "a row that is asked for is not noted", rule: "section 6", law: .p9,
        fault: .source(
            "Foldback/Rows/TouchedRows.swift", "touches[index].found = found",
            "if !MUTANT { touches[index].found = found }"), subject: .rows),
]

/// Of the entry's own transaction.
private let confirmedRows: [Mutant] = [
    Mutant(
        name: "a transaction does not see its own rows", rule: "L4", law: .p5,
        fault: .source(
            "Foldback/Rows/RowOverlay.swift", "if let value = changed[key] { return value }",
            "if let value = changed[key], !MUTANT { return value }"), subject: .rows),
    Mutant(
        name: "a transaction writes its first rows only", rule: "L4", law: .p15,
        fault: .source(
            "Foldback/Rows/RowFold.swift", "rows: confirmed.changed.map { ($0.key, $0.value) },",
            "rows: confirmed.changed.prefix(MUTANT ? 1 : .max).map { ($0.key, $0.value) },"),
        subject: .rows),
    Mutant(
        name: "rows stand at the first entry when a log is opened", rule: "L4", law: .p10,
        fault: .source(
            "Foldback/Rows/RowFold.swift", "        self.faults = faults\n",
            "        self.faults = faults\n        if MUTANT { self.sequence = 0 }\n"),
        subject: .rows),
    Mutant(
        name: "rows of the past stop one entry early", rule: "F11", law: .p2,
        fault: .source(
            "Foldback/Store/ProjectedRows.swift", "codec: core.codec, upTo: sequence)",
            "codec: core.codec, upTo: MUTANT && sequence > 0 ? LogSequence(sequence.value - 1) : sequence)"
        ), subject: .rows),
    Mutant(
        name: "two rows at one place of a unique index", rule: "section 6", law: .p11,
        fault: .source(
            "Foldback/Rows/TouchedRows.swift",
            "guard there == .absent || there == .row(primary) else {",
            "guard MUTANT || there == .absent || there == .row(primary) else {"
        ), subject: .rows),
    Mutant(
        name: "an index keeps a row where it was", rule: "section 6", law: .p11,
        fault: .source(
            "Foldback/Rows/TouchedRows.swift", "for index in before where !after.contains(index) {",
            "for index in before where !after.contains(index) && !MUTANT {"), subject: .rows),
]
