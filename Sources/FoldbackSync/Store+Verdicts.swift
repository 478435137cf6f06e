import Foldback

extension Store {
    /// Records an authority's verdicts. Acceptances go into one commit if they fit.
    ///
    /// - Parameters:
    ///   - sent: the intents of the request. Verdicts about other intents are ignored.
    ///   - device: what the request said that this log knows.
    /// - Returns: a reply for each intent that has a verdict. A verdict that cannot be recorded
    ///   counts as `.unusable`, not as an answer.
    /// - Throws: `.superseded` if the answer is another authority's, and nothing was recorded. As
    ///   `acknowledge` and `reject` do: some verdicts may be recorded already. Repeating them is
    ///   harmless (F7).
    func record(
        _ verdicts: Verdicts<P.Event>, on sent: [IntentID], knowing device: SyncPoint
    ) async throws(CommandError) -> [IntentNumber: OutboxState.Reply] {
        try await requireShared(device, lineage: verdicts.lineage, head: verdicts.head)
        if let lineage = verdicts.lineage { try await noteLineage(lineage) }
        var replies: [IntentNumber: OutboxState.Reply] = [:]
        var accepted: [Acknowledgement<P.Event>] = []
        for id in sent {
            switch verdicts[id] {
            case nil: break  // mutant: no-verdict
            case .accepted(let position, let replacement):
                // A log that is confirmed by acknowledgements has no positions (F4).
                let position = status.kind == .downlink ? position : nil
                accepted.append(
                    Acknowledgement(id.number, position: position, delivered: replacement))
            case .rejected(let rejection):
                try await reject(
                    id.number, code: rejection.code?.cut(toBytes: Limits.keyBytesMax),
                    message: rejection.message.cut(toBytes: Limits.messageBytesMax),
                    from: verdicts.lineage)
                replies[id.number] = .settled
            case .later(let after, let reason):
                replies[id.number] = .later(after: after, reason: reason)  // mutant: later
            }
        }
        try await record(accepted, from: verdicts.lineage, &replies)
        return replies
    }

    private func record(
        _ accepted: [Acknowledgement<P.Event>], from lineage: Lineage?,
        _ replies: inout [IntentNumber: OutboxState.Reply]
    ) async throws(CommandError) {
        do throws(CommandError) {
            try await acknowledge(contentsOf: accepted, from: lineage)
        } catch {
            guard error.isOfTheAuthority else { throw error }
            // One acceptance cannot be recorded. Record them one by one, to keep the others.
            for words in accepted {
                do throws(CommandError) {
                    try await acknowledge(contentsOf: [words], from: lineage)
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

extension CommandError {
    /// Whether the authority's verdict cannot be recorded. Such an error leaves the log unchanged
    /// and usable.
    var isOfTheAuthority: Bool {
        switch self {
        case .invalidBatch, .tooLarge, .notEncodable: true
        default: false
        }
    }
}

extension Store {
    /// Checks that the authority still has everything that this log has from it (N6).
    ///
    /// - Parameters:
    ///   - device: what the request said that this log knows.
    ///   - lineage: the authority's lineage, from the answer; nil if it has none. The writer compares
    ///     it again when it records the answer.
    ///   - head: the authority's highest position, from the answer; nil if it has none.
    /// - Throws: `.superseded`; the errors of a log that cannot be written.
    nonisolated(nonsending) func requireShared(
        _ device: SyncPoint, lineage: Lineage?, head: Position?
    ) async throws(CommandError) {
        // Another authority's head says nothing about what is shared.
        if let lineage, lineage.isOther(than: syncPoint.lineage) {
            throw noteSuperseded(shared: 0)
        }
        guard let head, head < device.through else { return }  // mutant: low-head
        throw await noteLostData(shared: head)
    }
}
