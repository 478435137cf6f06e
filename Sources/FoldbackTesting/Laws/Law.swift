/// What holds for every log, whatever its projection: what an app's own tests can rely on, and check.
///
/// The names P1 to P15 are those of the design; P6 is the app's own affair, for it speaks of fields. Of a
/// stored projection each holds for the rows of a store as well, two of them by their making, so that nothing
/// can be found: F9, for what `apply` has changed when it throws is dropped, and of P10 that nothing is seen
/// before it is kept, for rows are read from what is.
public enum Law: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// The same events give the same state: folded twice, and in another process (F1, F12).
    case p1 = "P1"
    /// What is seen after each entry is what folding everything from the first entry on gives (F2 to F8,
    /// F11, F13 to F15).
    case p2 = "P2"
    /// A checkpoint and what came after it give what the whole log gives.
    case p3 = "P3"
    /// Rejecting an intent gives the view of a log in which it was never recorded (F10).
    case p4 = "P4"
    /// Confirmed state is the fold of the server's events alone (F3, F5, F10).
    case p5 = "P5"
    /// What is answered or delivered twice changes nothing (F6, F7).
    case p7 = "P7"
    /// Whatever the order of answers, the end is the server's order (F8).
    case p8 = "P8"
    /// Events that touch no key in common give the same in any order; of rows, those that ask for and change
    /// no row in common.
    case p9 = "P9"
    /// After a crash behind any entry the log shows what it showed, and nothing is seen before it is
    /// kept (F15, L2).
    case p10 = "P10"
    /// What the codecs write is read as what it was; of rows, as far as keys and indexes show it.
    case p11 = "P11"
    /// Each intent is in exactly one state, and none is lost.
    case p12 = "P12"
    /// The ids of items are unique, and an item keeps its id when it is confirmed (F12).
    case p13 = "P13"
    /// `apply` never ends the process, and comes to an end.
    case p14 = "P14"
    /// Once the link works, nothing stays pending, and every replica has what the server has (A1, A4):
    /// ``Simulation``. Folds in this process, so an `apply` that traps ends it.
    case p15 = "P15"
    /// `apply` throws before it changes anything (F9).
    case f9 = "F9"

    public var description: String { "\(rawValue) \(title)" }

    /// In a few words.
    public var title: String {
        switch self {
        case .p1: "determinism"
        case .p2: "incremental equals refold"
        case .p3: "checkpoint plus tail"
        case .p4: "rejected equals absent"
        case .p5: "confirmed equals the server's events alone"
        case .p7: "duplicates change nothing"
        case .p8: "any order of answers"
        case .p9: "disjoint keys commute"
        case .p10: "reopening after a crash"
        case .p11: "codec round trip"
        case .p12: "no intent is lost"
        case .p13: "item ids stay"
        case .p14: "never traps"
        case .p15: "nothing stays pending"
        case .f9: "a throw changes nothing"
        }
    }
}
