import Foldback

/// What is timed on rows with intents pending.
enum RowAnswer: CaseIterable, Sendable {
    case recording
    case acknowledgingOldest
    case rejectingOldest
    case rejectingNewest
    case foreignEvent

    var words: String {
        switch self {
        case .recording: "recording"
        case .acknowledgingOldest: "acknowledging the oldest"
        case .rejectingOldest: "rejecting the oldest"
        case .rejectingNewest: "rejecting the newest"
        case .foreignEvent: "foreign event"
        }
    }

    var logKind: LogKind {
        switch self {
        case .acknowledgingOldest: .acknowledgement
        case .recording, .rejectingOldest, .rejectingNewest, .foreignEvent: .downlink
        }
    }

    /// Intents that see what the answer changes, or the one that is recorded.
    func connectedMax(groupSize: Int) -> Int {
        switch self {
        case .recording: 1
        // It is confirmed as it was pending.
        case .acknowledgingOldest, .rejectingNewest: 0
        case .rejectingOldest: groupSize - 1
        case .foreignEvent: groupSize
        }
    }
}

/// Where pending intents lie among the rows.
enum PendingPlaces: Sendable {
    /// Five on each row, one behind the other, and no two fives on the same.
    case fives
    /// All on the same ten rows.
    case tenRows

    var words: String {
        switch self {
        case .fives: "five on a row"
        case .tenRows: "on ten rows"
        }
    }

    /// How many intents that follow each other lie on one row.
    var groupSize: Int {
        switch self {
        case .fives: 5
        case .tenRows: 1
        }
    }

    /// The row of the intent of that number; the first is 0.
    func key(ofIntent number: Int) -> UInt64 {
        switch self {
        case .fives: UInt64(number / 5 * 7_919) % MailboxLogs.rowCount
        case .tenRows: UInt64(number % 10)
        }
    }
}
