import Foldback
import Foundation

/// One user's years with an app: its log, the server, and the model that the log is compared with.
///
/// A day is a start of the app, eight rounds of work, and an end. `Life+Day.swift` has the day,
/// `Life+Checks.swift` what is compared, and `Life+Upkeep.swift` compactions and backups.
struct Life {
    static let daysOfYear = 52 * 7
    static let daysOfQuarter = 13 * 7
    static let roundsOfDay = 8
    static let itemCount = 200
    /// The day whose update adds ``ShelfRows``. The first compaction that removes anything comes
    /// later: a compacted log cannot make the rows of a new projection.
    static let updateDay = 24
    /// The days of a quarter after which the log is compacted. In the first year, it is compacted each
    /// week. A compaction checks what the log keeps of each intent that was ever recorded. So with 52
    /// compactions in each year, most of the time of ten years would be theirs.
    static let laterCompactionDays = [42, 91]

    let folder: URL
    /// At least one in each round.
    let intentsOfDay: Int
    var log: URL { folder.appending(path: "log", directoryHint: .isDirectory) }
    var backups: URL { folder.appending(path: "backups", directoryHint: .isDirectory) }

    /// 2026-01-01.
    let time = VirtualTime(1_767_225_600_000)
    var random: SeededNumbers
    var server = Server()
    var expected = Expected()
    var tallies = Tallies()
    var day = 0
    /// The intents that the server has decided on, and whose answer the log does not have yet.
    var sent: Set<IntentNumber> = []
    /// The drafts that are not released.
    var held: Set<IntentNumber> = []
    /// The intents whose request is lost, and the days on which they are sent again.
    var late: [IntentNumber: LateIntent] = [:]
    /// The seconds of each compaction of the quarter.
    var compactions: [Double] = []
    /// The size of the file before each compaction of the quarter.
    var bytesBefore: [Int] = []

    struct LateIntent {
        let sequence: LogSequence
        let dueDay: Int
        let compactionCount: Int
    }

    init(in folder: URL, intentsOfDay: Int, seed: UInt64) {
        self.folder = folder
        self.intentsOfDay = intentsOfDay
        random = SeededNumbers(seed: seed)
    }

    var isUpdated: Bool { day >= Self.updateDay }

    private var isFirstYear: Bool { day <= Self.daysOfYear }

    /// Whether the day that has just ended is followed by a compaction.
    private var isCompactionDay: Bool {
        let dayOfQuarter = (day - 1) % Self.daysOfQuarter + 1
        return isFirstYear
            ? day.isMultiple(of: 7) : Self.laterCompactionDays.contains(dayOfQuarter)
    }

    /// Whether the log is backed up in the evening of the day: every fourth week in the first year, and
    /// then in each quarter.
    var isBackupDay: Bool {
        (day + 1).isMultiple(of: isFirstYear ? 28 : Self.daysOfQuarter)
    }

    /// The days that an intent waits for its answer whose request is lost: more than ten compactions.
    var lateDays: Int { isFirstYear ? 14 * 7 : 70 * 7 }

    var also: [AdditionalProjection<ShelfEvent>] {
        isUpdated ? [AdditionalProjection(ShelfRows.self)] : []
    }

    /// Lives until the end of a quarter, and measures it.
    mutating func liveQuarter() async throws -> Quarter {
        repeat {
            try await liveDay()
            day += 1
            if isCompactionDay { try await compact() }
        } while !day.isMultiple(of: Self.daysOfQuarter)
        return try await measured()
    }

    func open() async throws -> Store<Shelf> {
        try await Store.open(
            at: log, Shelf.self, also: also, confirmedBy: .downlink, durability: .relaxed,
            replica: .exactly(Self.replica), sources: time.sources)
    }

    static let replica: ReplicaID = {
        guard let replica = ReplicaID("the-phone") else {
            preconditionFailure("a short name was refused as a replica id")
        }
        return replica
    }()
}

/// What has happened, in numbers.
struct Tallies {
    var recorded = 0
    var refused = 0
    var joined = 0
    var replaced = 0
    var withdrawn = 0
    var rejected = 0
    var retried = 0
    var dismissed = 0
    var overridden = 0
    var pages = 0
    var otherEvents = 0
    var compactions = 0
    var entriesRemoved = 0
    var backups = 0
    var comparisons = 0
    /// Intents that got their answer after ten compactions or more.
    var answeredLate = 0
    /// States of settled intents that were looked up, and how many of these had no entry any more.
    var statesRead = 0
    var statesOfRemoved = 0
}
