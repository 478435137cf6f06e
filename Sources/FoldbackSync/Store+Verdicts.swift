import Foldback

extension Store {
    /// Records an authority's verdicts. Acceptances go into one commit if they fit.
    ///
    /// - Parameter sent: the intents of the request. Verdicts about other intents are ignored.
    /// - Returns: a reply for each intent that has a verdict. A verdict that cannot be recorded
    ///   counts as `.unusable`, not as an answer.
    /// - Throws: as `acknowledge` and `reject` do. Some verdicts may be recorded already. Repeating
    ///   them is harmless (F7).
    func record(
        _ verdicts: [IntentID: Verdict<P.Event>], on sent: [IntentID]
    ) async throws(FoldbackError) -> [IntentNumber: OutboxState.Reply] {
        var replies: [IntentNumber: OutboxState.Reply] = [:]
        var accepted: [Acknowledgement<P.Event>] = []
        for id in sent {
            switch verdicts[id] {
            case nil: break  // mutant: no-verdict
            case .accepted(let position, let replacement):
                // A log that is confirmed by acknowledgements has no positions (F4).
                let position = status.kind == .downlink ? position : nil
                accepted.append(
                    Acknowledgement(id.number, position: position, replacement: replacement))
            case .rejected(let rejection):
                try await reject(
                    id.number, code: rejection.code?.cut(toBytes: Limits.keyBytesMax),
                    message: rejection.message.cut(toBytes: Limits.messageBytesMax))
                replies[id.number] = .settled
            case .later(let after, let reason):
                replies[id.number] = .later(after: after, reason: reason)  // mutant: later
            }
        }
        try await record(accepted, &replies)
        return replies
    }

    private func record(
        _ accepted: [Acknowledgement<P.Event>],
        _ replies: inout [IntentNumber: OutboxState.Reply]
    ) async throws(FoldbackError) {
        do throws(FoldbackError) {
            try await acknowledge(contentsOf: accepted)
        } catch {
            guard error.isOfTheAuthority else { throw error }
            // One acceptance cannot be recorded. Record them one by one, to keep the others.
            for words in accepted {
                do throws(FoldbackError) {
                    try await acknowledge(
                        words.intent, position: words.position, replacement: words.replacement)
                    replies[words.intent] = .settled
                } catch {
                    guard error.isOfTheAuthority else { throw error }
                    replies[words.intent] = .unusable(reason: "\(error)")
                }
            }
            return
        }
        for words in accepted { replies[words.intent] = .settled }
    }
}

extension FoldbackError {
    /// Whether the authority's verdict cannot be recorded. Such an error leaves the log unchanged
    /// and usable.
    var isOfTheAuthority: Bool {
        switch self {
        case .invalidBatch, .tooLarge, .notEncodable: true
        default: false
        }
    }
}
