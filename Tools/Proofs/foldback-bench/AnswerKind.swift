import Foldback

/// An answer or event of the server whose cost is measured.
enum AnswerKind: CaseIterable, Sendable {
    case acknowledgingOldest
    case acceptingOldest
    case rejectingOldest
    case rejectingNewest
    case foreignEvent

    var words: String {
        switch self {
        case .acknowledgingOldest: "acknowledging the oldest"
        case .acceptingOldest: "accepting the oldest (downlink)"
        case .rejectingOldest: "rejecting the oldest"
        case .rejectingNewest: "rejecting the newest"
        case .foreignEvent: "foreign event"
        }
    }

    var logKind: LogKind {
        switch self {
        case .acknowledgingOldest: .acknowledgement
        case .acceptingOldest, .rejectingOldest, .rejectingNewest, .foreignEvent: .downlink
        }
    }

    /// Whether the answer folds the whole overlay again, which is slow.
    var foldsAllAgain: Bool {
        switch self {
        case .rejectingOldest, .foreignEvent: true
        case .acknowledgingOldest, .acceptingOldest, .rejectingNewest: false
        }
    }

    /// Measures the cost of `count` answers in one transaction.
    ///
    /// Before that, it records as many intents as the answers settle, without timing them. So the
    /// number of pending intents stays the same.
    func cost(in log: inout PendingLog, count: Int) async throws -> BatchCost {
        switch self {
        case .acknowledgingOldest, .acceptingOldest, .rejectingOldest, .rejectingNewest:
            try await log.record(count: count)
        case .foreignEvent: break
        }
        let cost = try await log.cost(of: try commands(in: &log, count: count))
        if self == .acceptingOldest { try await log.confirmAccepted() }
        return cost
    }

    private func commands(in log: inout PendingLog, count: Int) throws -> [Command] {
        let refusal = Rejection(code: "forbidden", message: "not yours")
        switch self {
        case .acknowledgingOldest:
            return log.takeOldest(count).map {
                .acknowledge($0, position: nil, replacement: nil)
            }
        case .acceptingOldest:
            return log.takeOldest(count).map {
                .acknowledge($0, position: log.nextPosition(), replacement: nil)
            }
        case .rejectingOldest: return log.takeOldest(count).map { .reject($0, refusal) }
        case .rejectingNewest:
            return log.newest(count).reversed().map { .reject($0, refusal) }
        case .foreignEvent:
            return try (0..<count).map { _ in .confirm([try log.foreignEvent()], through: nil) }
        }
    }
}
