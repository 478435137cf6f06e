/// The entry of a usual command. The writer appends it on a lean path.
///
/// The general path looks up settled intents, makes a ``Decision``, and collects ``Effects``. For a
/// usual command, a few comparisons show that none of that is needed.
///
/// Both paths write the same bytes and leave the same state. LeanPathTests compares them on random
/// commands. Opening a log and `verify` fold each entry on the general path, also one that was written on
/// the lean path.
///
/// | case | its command | its only effects |
/// |---|---|---|
/// | `intent` | records an intent that is not indexed, and retries nothing | the intent is the overlay's last |
/// | `acceptance` | acknowledges a pending intent in a downlink log, without a replacement; it has no position, or one above `through` | the intent is accepted |
/// | `confirmation` | acknowledges the overlay's head in an acknowledgement log, without a replacement or a position; the head is optimistic and not indexed | the intent is confirmed |
/// | `batch` | brings the overlay's first intents, in order and with equal events, and confirms no other; none is indexed | the intents are confirmed |
///
/// A confirmation and a batch leave the list of events that the views fold as it is
/// (``ViewChange/unchanged``).
///
/// *Indexed* is an intent with a once key or a replacing key, or that undoes another
/// (``RecordedIntent/isIndexed``). Two or more events that are recorded together are decided on the general
/// path. Then each intent of them that is plain is appended on the lean path.
///
/// | step | lean path | general path |
/// |---|---|---|
/// | decide | ``LogState/plainEntry(for:at:)`` | ``LogState/decision(for:at:isTouched:settled:)`` |
/// | append | `WorkingLog.append(_:isForced:time:)` | `WorkingLog.append(_:isForced:time:subjects:)` |
/// | fold | `LogFold.append(_:isInViews:)` | ``LogFold/append(_:at:settledIntent:isInViews:)`` |
/// | apply | `LogState.apply(_:)` | ``LogState/apply(_:at:settledIntent:)`` |
/// | settle | `WorkingLog.noteAnswered(_:)`, `noteConfirmed(_:)` | `WorkingLog.applySettlements(_:_:)` |
///
/// Both share what is between these: new intents, inverses, the try on the views, the fold of a plan, and
/// the encoding of a record.
package enum PlainEntry: Sendable {
    case intent(UnsettledIntent)
    case acceptance(UnsettledIntent, position: Position?)
    case confirmation(UnsettledIntent)
    case batch(ConfirmedBatch, [RecordedIntent])

    /// The content of the entry's record.
    package var entry: Entry {
        switch self {
        case .intent(let intent): .intent(intent.recorded)
        case .acceptance(let intent, let position):
            .acknowledged(  // mutant: plain-bytes
                Acknowledged(
                    number: intent.recorded.number, position: position, replacement: nil,
                    settles: false))
        case .confirmation(let intent):
            .acknowledged(
                Acknowledged(
                    number: intent.recorded.number, position: nil, replacement: nil, settles: true))
        case .batch(let batch, _): .confirmed(batch)
        }
    }
}

extension LogState {
    /// Returns the entry of a command that takes a lean path; nil if the general path must decide
    /// the command.
    ///
    /// The conditions are here and in the functions that this one calls.
    package func plainEntry(for command: Command, at time: Timestamp) -> PlainEntry? {
        switch command {
        case .record(let proposal): plainIntent(proposal, at: time)
        case .acknowledge(let number, let position, replacement: nil):
            switch kind {
            case .acknowledgement: plainConfirmation(of: number, position: position)
            case .downlink: plainAcceptance(of: number, position: position)
            }
        case .confirm(let events, let through): plainBatch(events, through: through)
        // `WorkingLog` asks for each of several intents of `.recordAll` once they are decided.
        case .acknowledge, .reject, .change, .retry, .recordAll: nil
        }
    }

    /// A new intent is plain if it has no once key, so that it joins no other intent (F14), and no
    /// replacing key, so that it replaces none (F16).
    private func plainIntent(_ proposal: Proposal, at time: Timestamp) -> PlainEntry? {
        guard proposal.once == nil, proposal.terms.replacingKey == nil else { return nil }
        return plainEntry(newIntent(proposal, time))
    }

    /// Returns a new intent as a plain entry; nil if it is indexed or retries an intent.
    package func plainEntry(_ intent: RecordedIntent) -> PlainEntry? {
        guard !intent.isIndexed, intent.retries == nil else { return nil }
        return .intent(UnsettledIntent(intent))
    }

    /// In a downlink log, an acknowledgement without a replacement is plain if the intent is
    /// pending, and if `through` does not cover the position. Then the intent stays in the overlay
    /// (F3).
    private func plainAcceptance(of number: IntentNumber, position: Position?) -> PlainEntry? {
        guard position.map({ $0 > through }) ?? true, let intent = overlay[number],
            intent.acceptance == nil
        else { return nil }
        return .acceptance(intent, position: position)
    }

    /// In an acknowledgement log, an acknowledgement without a replacement is plain if the intent is
    /// the overlay's head. It is not confirm-only, so the list that the views fold stays the same
    /// (F4). It is not indexed, so its settlement changes no index (F14, F16, F21).
    private func plainConfirmation(of number: IntentNumber, position: Position?) -> PlainEntry? {
        guard position == nil, let head = overlay.first, head.key == number,
            head.value.isOptimistic, !head.value.recorded.isIndexed
        else { return nil }
        return .confirmation(head.value)
    }

    /// A batch is plain if each of its events is new, and confirms the next intent of the overlay
    /// with an equal event. Then the list that the views fold stays the same.
    ///
    /// These intents may be accepted already. They are not confirm-only, and not indexed, so their
    /// settlement changes no index (F14, F16, F21). The batch confirms no other intent.
    private func plainBatch(_ events: [Confirmed], through named: Position?) -> PlainEntry? {
        guard kind == .downlink, let last = events.last?.position else { return nil }
        let through = named ?? last
        guard through >= last else { return nil }
        var position = self.through
        var head = overlay.makeIterator()
        var intents: [RecordedIntent] = []
        intents.reserveCapacity(min(events.count, overlay.count))
        for event in events {
            guard event.position > self.through, event.position >= position,
                let intent = head.next()?.value,
                intent.isOptimistic, !intent.recorded.isIndexed,
                event.origin == intent.recorded.id, event.payload.isSame(as: intent.payload)
            else { return nil }
            position = event.position
            intents.append(intent.recorded)
        }
        let border = intents[intents.count - 1].number
        let isAlone = accepted(upTo: through).allSatisfy { $0 <= border }
        guard isAlone else { return nil }  // mutant: plain-batch
        let numbers = intents.map(\.number)
        return .batch(
            ConfirmedBatch(events: events, through: through, settled: numbers), intents)
    }
}
