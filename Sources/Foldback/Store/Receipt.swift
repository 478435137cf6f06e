/// Proof that an intent is in the log, and a way to wait for its answer.
///
/// ```swift
/// let receipt = try await store.record(.liked(post: "42"))
/// switch try await receipt.settlement().content {
/// case .rejected(let rejection): show(rejection.message)
/// case .accepted, .confirmed, .withdrawn: break
/// }
/// ```
///
/// The answer may come minutes or days later. After a restart, ``Store/receipt(for:)`` returns the
/// receipt again. Do not use receipts to follow all answers: ``Store/answers(after:)`` does that.
public struct Receipt: Sendable {
    /// The replica that recorded the intent, and its number: the id under which it is sent (A1).
    public let id: IntentID
    /// The sequence of the intent's entry. If a retry joined another intent (F14), the sequence of
    /// the entry that dismissed the rejection.
    public let sequence: LogSequence
    /// Whether no intent was recorded, because an intent with the same once key is in the overlay.
    /// This is the receipt of that intent (F14).
    public let isJoined: Bool
    package let core: StoreCore

    /// The intent's number in this log.
    public var number: IntentNumber { id.number }

    /// Waits until the intent is no longer pending, and returns its latest answer: accepted,
    /// confirmed, rejected or withdrawn.
    ///
    /// If the intent was answered before the call, the answer is returned at once. The server can
    /// answer again and differently (F7). ``Store/answers(after:)`` has every answer.
    ///
    /// May be called from any task. May block on the disk for a short read.
    ///
    /// - Throws: `.cancelled` if the task was canceled; `.closed` if the store was; `.latched`,
    ///   `.damaged`, `.storage`. The log does not change.
    public func answer() async throws(LogError) -> Answer {
        try await core.answer(to: number) { $0 != .pending }
    }

    /// Waits until the intent is settled, and returns its latest answer: confirmed, rejected or
    /// withdrawn.
    ///
    /// As ``answer()`` in everything else.
    public func settlement() async throws(LogError) -> Answer {
        try await core.answer(to: number) { $0.isSettled }
    }
}

extension Receipt {
    /// Creates the receipt for the outcome of recording or retrying an intent.
    init(recorded result: RequestResult, in core: StoreCore) {
        switch result {
        case .recorded(let id, let sequence):
            self.init(id: id, sequence: sequence, isJoined: false, core: core)
        case .joined(let id, let sequence):
            self.init(id: id, sequence: sequence, isJoined: true, core: core)
        case let other: preconditionFailure("\(other) is not an outcome of recording")
        }
    }

    /// Creates the receipts for the outcome of recording several intents.
    static func all(recorded result: RequestResult, in core: StoreCore) -> [Receipt] {
        switch result {
        case .recordedAll(let ids, let first):
            ids.enumerated().map { place, id in
                Receipt(
                    id: id, sequence: first.advanced(by: place), isJoined: false, core: core)
            }
        case let one: [Receipt(recorded: one, in: core)]
        }
    }
}
