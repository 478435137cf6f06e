import Foldback
import FoldbackShell

/// What a recorded process does with the log, and how the power-cut tests judge its images.
struct Scenario: Sendable {
    let name: String
    let kind: LogKind
    /// Where the check keeps documents.
    var store = DocumentStore.memory
    var sessions: [Session]
    /// How many of each turn's images are of this scenario.
    var weight = 2
    /// Whether the recording starts with the image of a power cut.
    var isAfterCut = false
    /// Whether the recording must contain a checkpoint, so that the scenario tests what it says.
    var writesCheckpoint: Bool { name.contains("checkpoints") }
    var isImport: Bool { sessions.contains { $0.program == .importer } }
    /// Whether a superseded log continues on a new log. The new log has the last recorded entries.
    var isContinuing: Bool { sessions.contains { $0.program == .successor } }

    /// Whether the log begins from a state of a server.
    var isBeginning: Bool { sessions.contains { $0.program == .beginner } }

    /// The session that compacts the log; nil if none does.
    var compactingSession: Int? { sessions.firstIndex { $0.has(Script.compaction) } }
    /// Whether compactions keep the old logs.
    var isArchived: Bool { sessions.contains { $0.has(#""archive":"#) } }
    var isBackedUp: Bool { sessions.contains { $0.has(Script.backup) } }
    /// The first session whose operations are cut.
    var firstCutSession: Int {
        compactingSession
            ?? sessions.firstIndex { $0.has(Script.backup) || $0.program == .beginner } ?? 0
    }

    enum DocumentStore: String, Sendable {
        case memory, rows
    }

    /// One process. The log is the directory `log` below the root of the recording.
    struct Session: Sendable {
        enum Program: Sendable { case shell, callers, importer, successor, beginner }

        var program = Program.shell
        var store = DocumentStore.memory
        var durability = Durability.durable
        /// The size of LMDB's first map; nil is Foldback's.
        var mapBytes: Int?
        var lines: [String] = []

        func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    }
}

extension Scenario {
    static let all: [Scenario] = [
        firstOpen, settlements, rows, relaxed, relaxedFlushed, growth, checkpoints,
        relaxedCheckpoints, reopening, callers, importing, continuing, compacting, archiving,
        backups, beginning, beginningAgain,
    ]

    /// Returns the opening of a log of another scenario after a power cut, with two new intents.
    static func opening(after earlier: Scenario) -> Scenario {
        Scenario(
            name: openingName, kind: earlier.kind, store: earlier.store,
            sessions: [
                session(earlier.store) { script in
                    script.record("new")
                    script.record("more")
                }
            ], weight: 1, isAfterCut: true)
    }

    static let openingName = "opening after a power cut"

    /// Whether ``opening(after:)`` is made of this scenario.
    var isOpenedAgain: Bool {
        ["first open", "rows", "relaxed", "settlements", "reopening"].contains(name)
    }

    private static func session(
        _ store: DocumentStore = .memory, _ durability: Durability = .durable,
        mapBytes: Int? = nil, after intents: Int = 0, _ fill: (inout Script) -> Void
    ) -> Session {
        var script = Script(after: intents)
        fill(&script)
        return Session(
            store: store, durability: durability, mapBytes: mapBytes, lines: script.lines)
    }

    private static let firstOpen = Scenario(
        name: "first open", kind: .acknowledgement,
        sessions: [session { $0.answerInOrder(1, bytes: 8) }], weight: 12)

    private static let settlements = Scenario(
        name: "settlements", kind: .downlink, sessions: [session { $0.settleInEveryWay(6) }])

    private static let rows = Scenario(
        name: "rows", kind: .acknowledgement, store: .rows,
        sessions: [session(.rows) { $0.answerInOrder(40, bytes: 40) }], weight: 3)

    private static let relaxed = Scenario(
        name: "relaxed", kind: .acknowledgement,
        sessions: [session(.memory, .relaxed) { $0.answerInOrder(40, bytes: 100) }], weight: 3)

    private static let relaxedFlushed = Scenario(
        name: "relaxed, with flushes", kind: .acknowledgement, store: .rows,
        sessions: [
            session(.rows, .relaxed) { $0.answerInOrder(40, bytes: 20, flushEvery: 3) }
        ], weight: 3)

    private static let growth = Scenario(
        name: "growth of the map", kind: .acknowledgement,
        sessions: [session(mapBytes: 128 << 10) { $0.answerInOrder(48, bytes: 4_000) }])

    /// A checkpoint is due after half of the intents. So its writes end before the session ends, also
    /// on a slow machine.
    private static let checkpoints = Scenario(
        name: "checkpoints", kind: .acknowledgement, store: .rows,
        sessions: [session(.memory) { $0.answerInOrder(128, bytes: 16_000) }], weight: 1)

    private static let relaxedCheckpoints = Scenario(
        name: "relaxed, with checkpoints", kind: .acknowledgement,
        sessions: [session(.memory, .relaxed) { $0.answerInOrder(128, bytes: 16_000) }], weight: 1)

    private static let reopening = Scenario(
        name: "reopening", kind: .acknowledgement, store: .rows,
        sessions: [
            session(.memory) { $0.answerInOrder(3, bytes: 8) },
            session(.rows, after: 3) { $0.record("a") },
            session(.rows, .relaxed, after: 4) { $0.record("b") },
            session(.memory, after: 5) { $0.record("c") },
            session(.rows, .relaxed, after: 6) { $0.record("d") },
        ], weight: 4)

    private static let callers = Scenario(
        name: "callers at once", kind: .acknowledgement, store: .rows,
        sessions: [Session(program: .callers, store: .rows)])

    private static let importing = Scenario(
        name: "import", kind: .acknowledgement, sessions: [Session(program: .importer)], weight: 6)

    /// The lost authority's events have higher positions than the second authority has. It had
    /// confirmed the second intent, which the second authority lacks.
    private static let continuing = Scenario(
        name: "continuing", kind: .downlink,
        sessions: [
            session { script in
                script.confirm("lost", at: 5)
                for key in ContinuationCheck.keys { script.record(key) }
                script.confirm(2, setting: ContinuationCheck.keys[1], at: 7)
                script.reject(ContinuationCheck.rejected)
            },
            Session(program: .successor),
        ], weight: 6)

    /// The second compaction is of a log that begins at a base.
    private static let compacting = Scenario(
        name: "compacting", kind: .downlink,
        sessions: [
            session { $0.settleInEveryWay(4) },
            session(after: 20) { script in
                script.compact(keeping: 12, archives: false)
                script.record("new")
                script.compact(keeping: 3, archives: false)
                script.record("more")
            },
        ], weight: 6)

    private static let archiving = Scenario(
        name: "compacting, with an archive", kind: .acknowledgement, store: .rows,
        sessions: [
            session(.rows) { $0.answerInOrder(16, bytes: 40) },
            session(.rows, after: 18) { script in
                script.compact(keeping: 5, archives: true)
                script.record("new")
                script.compact(keeping: 2, archives: true)
                script.record("more")
            },
        ], weight: 6)

    /// The second backup replaces the first.
    private static let backups = Scenario(
        name: "backups", kind: .acknowledgement,
        sessions: [
            session { $0.answerInOrder(6, bytes: 40) },
            session(after: 7) { script in
                script.backUp()
                script.record("new")
                script.backUp()
                script.record("more")
            },
        ], weight: 6)

    /// A device without a log begins from a state. It records an intent, and begins from the same state.
    private static let beginning = Scenario(
        name: "beginning, without a log", kind: .downlink, sessions: beginningSessions(after: 0),
        weight: 6)

    /// The state has the effect of the first intent.
    private static let beginningAgain = Scenario(
        name: "beginning, with pending intents", kind: .downlink,
        sessions: [
            session { script in
                script.confirm("old", at: 3)
                for key in BeginningCheck.keys { script.record(key) }
                script.acknowledge(1, position: 5)
                script.acknowledge(2, position: 9)
                script.reject(BeginningCheck.rejected)
            }
        ] + beginningSessions(after: BeginningCheck.keys.count), weight: 6)

    private static func beginningSessions(after intents: Int) -> [Session] {
        let beginner = Session(program: .beginner)
        return [beginner, session(after: intents) { $0.record(BeginningCheck.newKey) }, beginner]
    }
}
