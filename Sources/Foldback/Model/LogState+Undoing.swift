/// Undo, redo, and the commands on all intents that were recorded together (F20, F21).
///
/// An intent that undoes another is *tied* to it. The chain of an intent begins with it and follows
/// the newest intent that undoes each:
///
/// ```
///  undo(4)      4 ◀─ 7            7 undoes 4: the action is undone
///  redo(4)      4 ◀─ 7 ◀─ 9       9 undoes 7: the action is back
///  reject(7)    4                 7 is rejected, and 9 lapses
/// ```
///
/// An intent that was never sent is taken back instead, and the chain ends before it. If the first
/// intent itself was taken back, the intent after it is the action again.
extension LogState {
    /// An intent of a chain, and whether the view has the action that the chain is about.
    private struct ChainEnd {
        let number: IntentNumber
        /// The intent; nil if it is in the overlay.
        let settled: SettledIntent?
        let isDone: Bool
        /// The intents of the chain, this one last.
        let chain: [IntentNumber]
    }

    // MARK: Undo and redo

    /// Undoes each intent of the action that is not undone, the last first.
    func undoDecision(
        on number: IntentNumber, _ state: IntentState, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        var steps: [Reversal] = []
        let members = try group(of: number, settled)
        let lastFirst = Array(members.reversed())  // mutant: undo-order
        for member in lastFirst {
            let end = try chainEnd(of: member, settled)
            guard end.isDone else { continue }
            steps.append(try undoing(end))
        }
        return steps.isEmpty ? .ignore(state) : .reverse(steps)
    }

    private func undoing(_ end: ChainEnd) throws(LogError) -> Reversal {
        if let settled = end.settled { return .undo(try settled.requireRecorded(), .ofConfirmed) }
        return wasNeverSent(end.number)
            ? .takeBack(end.number) : .undo(overlay[end.number]!.recorded, .ofOverlay)
    }

    /// Redoes each intent of the action that is undone, the first first. Of several that were recorded
    /// together, those stay withdrawn that undo has not withdrawn.
    func redoDecision(
        on number: IntentNumber, _ state: IntentState, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        let members = try group(of: number, settled)
        var steps: [Reversal] = []
        var joined: IntentNumber?
        for member in members {
            let end = try chainEnd(of: member, settled)
            guard !end.isDone else { continue }
            if end.number != member, wasNeverSent(end.number) {
                steps.append(.takeBack(end.number))
                continue
            }
            guard let recorded = try recorded(member, settled) else { continue }
            let isTakenBack = end.number == member
            if isTakenBack {
                guard let change = end.settled?.change else { continue }
                // What may have left can still come back by itself, and what was replaced goes on.
                let isRedone = change == .undone || members.count == 1 && change == .withdrawn
                guard isRedone else { continue }  // mutant: redo-undone
            }
            let other = self.joined(by: recorded.once)
            if let other, !end.chain.contains(other) {
                joined = other
            } else {
                steps.append(
                    .again(
                        recorded, undoing: end.number,
                        takenBack: isTakenBack ? undoneBy[member] ?? member : nil,
                        keepsOnce: other == nil))
            }
        }
        if steps.isEmpty {
            return joined.map { .join($0, appending: release(of: $0)) } ?? .ignore(state)
        }
        return .reverse(steps)
    }

    /// Follows the chain of an intent to its end.
    private func chainEnd(
        of number: IntentNumber, _ settled: SettledIntents
    ) throws(LogError) -> ChainEnd {
        var intent = overlay[number] == nil ? try settled.find(number) : nil
        var end = ChainEnd(
            number: number, settled: intent,
            isDone: overlay[number] != nil || intent?.settlement == .confirmed, chain: [number])
        while let next = undoneBy[end.number] {
            intent = overlay[next] == nil ? try settled.find(next) : nil
            guard overlay[next] != nil || intent?.settlement == .confirmed else { break }
            // Only the first intent of a chain can be one that was taken back.
            let isAgain = end.settled.map { $0.settlement != .confirmed } ?? false
            end = ChainEnd(
                number: next, settled: intent, isDone: isAgain || !end.isDone,
                chain: end.chain + [next])
        }
        return end
    }

    /// Whether the intent is pending and cannot have left the device (F7).
    private func wasNeverSent(_ number: IntentNumber) -> Bool {
        overlay[number]?.state == .pending && !facts.mayHaveLeft(number)  // mutant: undo-attempt
    }

    private func recorded(
        _ number: IntentNumber, _ settled: SettledIntents
    ) throws(LogError) -> RecordedIntent? {
        if let intent = overlay[number] { return intent.recorded }
        return try settled.find(number)?.requireRecorded()
    }

    /// Returns the intent in the overlay that undoes this one; nil if there is none.
    func overlayIntent(undoing number: IntentNumber?) -> IntentNumber? {
        number.flatMap { undoneBy[$0] }.flatMap { overlay[$0] == nil ? nil : $0 }
    }

    // MARK: What follows

    /// Returns the entries that follow a rejection or withdrawal of a pending intent: what undoes it
    /// has nothing left to undo. It was not sent, because it waits for this intent's answer.
    func lapses(of number: IntentNumber) -> [Entry] {
        var entries: [Entry] = []
        var last = number
        while let next = undoneBy[last], overlay[next]?.state == .pending {
            entries.append(.changed(next, .lapsed))  // mutant: lapsed
            last = next
        }
        return entries
    }

    /// Returns the entries that follow an answer that brings an intent back (F6, F7): what had lapsed
    /// with it is pending again.
    ///
    /// - Parameter confirmed: intents that the same answer confirms.
    func restorations(
        of number: IntentNumber, besides confirmed: Set<IntentNumber> = [],
        _ settled: SettledIntents
    ) throws(LogError) -> [Entry] {
        guard overlay[number] == nil, !undoneBy.isEmpty else { return [] }
        var entries: [Entry] = []
        var last = number
        while let next = undoneBy[last], overlay[next] == nil {
            if !confirmed.contains(next) {
                guard try settled.find(next)?.change == .lapsed else { break }
                entries.append(.changed(next, .restored))  // mutant: restored
            }
            last = next
        }
        return entries
    }

    /// Returns the terms of an intent; nil if its entry was removed (C4).
    private func terms(
        of number: IntentNumber, _ settled: SettledIntents
    ) throws(LogError) -> IntentTerms? {
        if let intent = overlay[number] { return intent.recorded.terms }
        return try settled.find(number)?.recorded?.terms
    }

    // MARK: Recorded together

    /// Returns the intents that were recorded together with this one, ascending; or the intent alone.
    ///
    /// What redo has recorded again has the number of the group too, and may follow directly. It is
    /// not a member, but in the chain of a member.
    private func group(
        of number: IntentNumber, _ settled: SettledIntents
    ) throws(LogError) -> [IntentNumber] {
        guard let first = try recorded(number, settled)?.terms.group else { return [number] }
        var members: [IntentNumber] = []
        var next = first
        // The entries of all members are kept together (C4), so one that is gone is none of them.
        while wasRecorded(next), let terms = try terms(of: next, settled), terms.group == first,
            terms.undoes.map({ $0 < first }) ?? true
        {
            members.append(next)
            next = next.next
        }
        return members
    }

    /// Withdraws all intents of the action, or none if one may have left the device.
    func withdrawAllDecision(
        on number: IntentNumber, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        var entries: [Entry] = []
        for member in try group(of: number, settled) {
            if let intent = overlay[member] {
                guard intent.acceptance == nil else {
                    return .refuse(.notPending(member, .accepted))
                }
                guard !facts.mayHaveLeft(member) else {  // mutant: withdrawn-all
                    return .refuse(.mayHaveLeft(member))
                }
                entries += [.changed(member, .withdrawn)] + lapses(of: member)
            } else if let state = try settled.find(member)?.settlement.state, state != .withdrawn {
                return .refuse(.notPending(member, state))
            }
        }
        return entries.isEmpty ? .refuse(.notPending(number, .withdrawn)) : .append(entries)
    }

    /// Retries all listed rejections of the action. The retries are one action again.
    func retryAllDecision(
        on number: IntentNumber, _ state: IntentState, _ time: Timestamp, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        var rejected: [RecordedIntent] = []
        for member in try group(of: number, settled) where rejections[member] != nil {
            guard let recorded = try settled.find(member)?.requireRecorded() else { continue }
            if let joined = joined(by: recorded.once) { return .refuse(.onceKeyInUse(joined)) }
            rejected.append(recorded)
        }
        guard !rejected.isEmpty else {
            return .refuse(.notRejected(number, state, isDismissed: state == .rejected))
        }
        return .append(
            rejected.enumerated().map { index, old in
                .intent(
                    newIntent(
                        Proposal(again: old, payload: old.payload, terms: old.terms.ofRetry),
                        retrying: old.number, place: index, inGroupOf: rejected.count, time))
            })
    }
}
