import Foldback

extension Store {
    /// Records what an authority said of intents, acceptances in one commit where there is room.
    ///
    /// - Parameter sent: the intents that it was asked about; what it says of others is passed over.
    /// - Returns: a reply for each intent that has a verdict. One that cannot be recorded is no answer.
    /// - Throws: as recording; verdicts may be recorded already, and repeating them is harmless (F7).
    func record(
        _ verdicts: [IntentID: Verdict<P.Event>], on sent: [IntentID]
    ) async throws(FoldbackError) -> [IntentNumber: OutboxState.Reply] {
        var replies: [IntentNumber: OutboxState.Reply] = [:]
        var accepted: [Acknowledgement<P.Event>] = []
        for id in sent {
            switch verdicts[id] {
            case nil: break  // mutant: no-verdict
            case .accepted(let position, let replacement):
                // A log that acknowledgements confirm has no positions (F4).
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
            // One by one then: what can be recorded is.
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
    /// Whether the authority said what no log takes, and the log is none the worse.
    var isOfTheAuthority: Bool {
        switch self {
        case .invalidBatch, .tooLarge, .notEncodable: true
        default: false
        }
    }
}
