/// Faults that an app's own projection can have.
let projectionMutants: [Mutant] = [
    Mutant("reads the clock", rule: "F12", law: .p1, in: ReadsClock.self),
    Mutant("keeps hidden state", rule: "F12", law: .p1, in: HiddenState.self),
    Mutant("makes random ids", rule: "F12", law: .p1, in: RandomIDs.self),
    Mutant("depends on the order of a dictionary", rule: "F1", law: .p1, in: DictionaryOrder.self),
    Mutant("changes its state and then throws", rule: "F9", law: .f9, in: ChangesThenThrows.self),
    Mutant("applies a part of an event", rule: "F9", law: .f9, in: AppliesPart.self),
    Mutant("traps", rule: "F9", law: .p14, in: Traps.self),
    Mutant("never ends", rule: "F9", law: .p14, in: NeverEnds.self),
    Mutant("numbers its items", rule: "F12", law: .p13, in: NumbersItems.self),
    Mutant("names too few keys", rule: "P9", law: .p9, in: NamesTooFewKeys.self),
    Mutant("its parts lack a field", rule: "P16", law: .p16, in: PartsLackField.self),
    Mutant("refuses less than the other", rule: "P17", law: .p17, beside: CorrectProjection.self),
    Mutant("its inverse forgets what was there", rule: "F21", law: .p18, in: ForgetsOldValue.self),
    Mutant("its codec loses a field", rule: "P11", law: .p11, in: LosesField.self),
    Mutant("its state codec loses a field", rule: "P11", law: .p11, in: StateLosesField.self),
    Mutant("its state cannot be read again", rule: "P3", law: .p3, in: StateCannotBeRead.self),
]
