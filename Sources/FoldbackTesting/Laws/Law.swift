/// A property of every log, whatever its projection. An app's own tests can rely on it, and check
/// it.
///
/// No law knows what the fields of an app's own types mean, so the app must test that. For a stored
/// projection each law is also checked on the rows of a store. Two laws hold for rows by
/// construction, so no script can break them: F9, because changes of a throwing `apply` are
/// dropped, and the second half of P10, because rows are read from committed data.
public enum Law: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// The same events give the same state: folded twice, and in another process (F1, F12).
    case p1 = "P1"
    /// After each entry the log shows the same as a fold from the first entry (F2 to F8, F11, F13
    /// to F15).
    case p2 = "P2"
    /// A checkpoint with the entries after it leads to the same state as the whole log.
    case p3 = "P3"
    /// After a rejection the view is the view of a log in which the intent was never recorded
    /// (F10).
    case p4 = "P4"
    /// Confirmed state is the fold of the server's events alone (F3, F5, F10).
    case p5 = "P5"
    /// A second answer or delivery changes nothing (F6, F7).
    case p7 = "P7"
    /// Answers in any order lead to the server's order (F8).
    case p8 = "P8"
    /// Events without a common key lead to the same state in any order. For rows: events that read
    /// and write no common row.
    case p9 = "P9"
    /// After a crash at any entry the log shows what it showed before, and nothing is visible
    /// before it is committed (F15, L2).
    case p10 = "P10"
    /// Codecs read the values that they wrote. For rows: as far as keys and indexes show it.
    case p11 = "P11"
    /// Each intent is in exactly one state, and none is lost.
    case p12 = "P12"
    /// The ids of items are unique, and an item keeps its id when it is confirmed (F12).
    case p13 = "P13"
    /// `apply` never ends the process, and returns within the time for a step.
    case p14 = "P14"
    /// Once the link works, nothing stays pending, and every replica has the server's state (A1,
    /// A4). See ``Simulation``. It folds in this process, so an `apply` that traps ends the
    /// process.
    case p15 = "P15"
    /// The parts of keys show every difference between two states, if the projection has parts
    /// (``/FoldbackHistory/TraceableProjection/part(at:)``). See ``Versions`` for two versions of a
    /// projection.
    case p16 = "P16"
    /// The projections of a log refuse the same confirmed events, on request:
    /// ``checkLaws(of:also:events:itemIDs:laws:effort:coverage:seed:failures:file:)`` with `laws: [.p17]`.
    ///
    /// Projections share conflicts only in the overlay. Each keeps what it can of a confirmed event,
    /// so two that refuse different events show different things from then on.
    case p17 = "P17"
    /// Undo of the newest intent gives the view before it, whatever the server has of the intent, if the
    /// projection is ``/Foldback/Undoable`` (F21).
    case p18 = "P18"
    /// A log that is compacted shows after each step the same as a log that never is, and appends the
    /// same entries (C2 to C8). Only reads from before its base differ: they throw. It runs on disk.
    case p19 = "P19"
    /// `apply` throws before it changes anything (F9).
    case f9 = "F9"

    public var description: String { "\(rawValue) \(title)" }

    /// A few words for reports.
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
        case .p16: "parts show every difference"
        case .p17: "the same events are refused"
        case .p18: "undo gives the view before"
        case .p19: "compacting changes nothing"
        case .f9: "a throw changes nothing"
        }
    }
}

extension Set<Law> {
    /// The laws of every log: all except P17, which is checked on request.
    public static let standard = Set(Law.allCases).subtracting([.p17])

    /// The standard laws except some, like `laws: .all(except: .p13)`.
    public static func all(except laws: Law...) -> Set<Law> { standard.subtracting(laws) }
}
