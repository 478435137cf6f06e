import Foldback

/// A command whose cost is measured on rows with pending intents.
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

    /// The most intents that one command applies: intents that read a changed row, or the recorded
    /// intent.
    func connectedMax(groupSize: Int) -> Int {
        switch self {
        case .recording: 1
        // The intent is confirmed as it was pending, so no row changes; the newest intent has no
        // readers.
        case .acknowledgingOldest, .rejectingNewest: 0
        case .rejectingOldest: groupSize - 1
        case .foreignEvent: groupSize
        }
    }
}

/// The distribution of pending intents over the rows.
enum PendingPlaces: Sendable {
    /// Each five successive intents are on a row of their own.
    case fives
    /// All intents are on the same ten rows.
    case tenRows

    var words: String {
        switch self {
        case .fives: "five on a row"
        case .tenRows: "on ten rows"
        }
    }

    /// The number of successive intents on one row.
    var groupSize: Int {
        switch self {
        case .fives: 5
        case .tenRows: 1
        }
    }

    /// The key of the row of an intent; the first intent has number 0.
    func key(ofIntent number: Int) -> UInt64 {
        switch self {
        case .fives: UInt64(number / 5 * 7_919) % MailboxLogs.rowCount
        case .tenRows: UInt64(number % 10)
        }
    }
}
