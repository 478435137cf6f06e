import Foldback
import FoldbackSync
import Synchronization
import TestSupport

/// A server with one flaw. It is written apart from `InProcessAuthority` and `Space`.
final class FlawedServer: Authority {
    typealias Event = Move

    enum Flaw: String, CaseIterable {
        case none
        case highWaterMark, forgottenRejection, throughAheadOfItsPage, verdictBeforeItsCommit
        case otherVerdictOnARepeat, positionsUsedTwice, effectMissingForItsAuthor
        case pageSplitsAPosition, reusedIDIsAccepted, reusedIDReplacesTheVerdict
        case strangerIsDecided, deviceAheadIsDecided, effectWithoutOrigin, rejectedHasAnEffect
        case decidedTwiceAtOnce, otherEventThanTheVerdict, noLineage
        case otherDigestIsDecided, digestIsComparedAtTheHead, pollLooksBeforeItListens
        case rejectsTooMany, rejectsWhatWaits, keepsAPostponement, decidesPastAPostponement

        /// The check that names the flaw.
        var check: String? {
            switch self {
            case .none: nil
            case .highWaterMark: "A1: ids are a set, not a highest number"
            case .forgottenRejection: "A1: a rejection is remembered"
            case .throughAheadOfItsPage: "A2: through is not ahead of its page"
            case .verdictBeforeItsCommit: "A2: an effect is there when its verdict is"
            case .otherVerdictOnARepeat: "A1: a repeated intent gets its first verdict"
            case .positionsUsedTwice: "A3: positions rise, and are used once"
            case .effectMissingForItsAuthor:
                "A2: the author gets the effects too, with the intents' ids"
            case .pageSplitsAPosition: "A2: a page has whole positions"
            case .reusedIDIsAccepted, .reusedIDReplacesTheVerdict:
                "A1: an id with another event is rejected, and the first verdict stays"
            case .strangerIsDecided:
                "N6: a request with another lineage is superseded, and decides nothing"
            case .deviceAheadIsDecided: "N6: a device that is ahead of the server is superseded"
            case .effectWithoutOrigin: "A2: the author gets the effects too, with the intents' ids"
            case .rejectedHasAnEffect: "A2: a rejected intent has no effect"
            case .decidedTwiceAtOnce: "A1: an intent that comes twice at once is decided once"
            case .otherEventThanTheVerdict: "A1: a replacing event stays the same"
            case .noLineage: "N6: each answer names the lineage and the head"
            case .otherDigestIsDecided, .digestIsComparedAtTheHead:
                "N6: a page's digest comes back, and another digest is superseded"
            case .rejectsTooMany: "A4: what is too much for one request is not rejected"
            case .rejectsWhatWaits, .keepsAPostponement, .decidesPastAPostponement:
                "A4: a postponed intent is decided later"
            case .pollLooksBeforeItListens: "A2: a long poll misses no event"
            }
        }
    }

    private struct Data {
        var board = Board()
        var head: Position = 0
        var verdicts: [IntentID: (move: Move, verdict: Verdict<Move>)] = [:]
        var highest: [ReplicaID: IntentNumber] = [:]
        var events: [ConfirmedEvent<Move>] = []
        /// Effects that are not written yet.
        var late: [ConfirmedEvent<Move>] = []

        /// It tells this server's positions apart, and no more.
        func digest(at position: Position) -> RunningDigest? {
            let count = events.count { $0.position <= position }
            return RunningDigest("\(count) up to \(position)")
        }
    }

    private let flaw: Flaw
    private let lineage = Lineage.fresh()
    private let data = Mutex(Data())

    init(_ flaw: Flaw) { self.flaw = flaw }

    func submit(
        _ intents: [Submission<Move>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Move> {
        if flaw == .decidedTwiceAtOnce {
            // It looks, and decides later.
            let known = data.withLock { data in intents.map { data.verdicts[$0.id] } }
            for _ in 0..<20 { await Task.yield() }
            if known.allSatisfy({ $0 == nil }) {
                data.withLock { data in intents.forEach { data.verdicts[$0.id] = nil } }
            }
        }
        return try data.withLock { data throws(AuthorityFailure) in
            try requireShared(device, data)
            data.events += data.late
            data.late = []
            let position = Position(data.head.value + 1)
            var verdicts: [IntentID: Verdict<Move>] = [:]
            for intent in intents {
                let isTooMuch = flaw == .rejectsTooMany && verdicts.count >= 100
                let verdict =
                    isTooMuch
                    ? .rejected(Rejection(message: "too many"))
                    : self.verdict(on: intent, position, &data)
                verdicts[intent.id] = verdict
                if !verdict.isFinal, flaw != .decidesPastAPostponement { break }
            }
            return Verdicts(
                verdicts, lineage: flaw == .noLineage ? nil : lineage, head: data.head)
        }
    }

    private func verdict(
        on intent: Submission<Move>, _ position: Position, _ data: inout Data
    ) -> Verdict<Move> {
        if let known = data.verdicts[intent.id], flaw != .otherVerdictOnARepeat {
            if known.move == intent.event || flaw == .reusedIDIsAccepted { return known.verdict }
            let reused = Verdict<Move>.rejected(Rejection(code: "id-reused", message: "reused"))
            if flaw == .reusedIDReplacesTheVerdict {
                data.verdicts[intent.id] = (intent.event, reused)
            }
            return reused
        }
        let highest = data.highest[intent.id.replica] ?? 0
        data.highest[intent.id.replica] = max(highest, intent.id.number)
        if flaw == .highWaterMark, intent.id.number <= highest {
            return .accepted(position: data.head, replacement: nil)
        }
        if let postponed = postponed(intent, data.board) {
            if flaw == .keepsAPostponement || postponed.isFinal {
                data.verdicts[intent.id] = (intent.event, postponed)
            }
            return postponed
        }
        var move = intent.event
        if case .set("double", let value) = move { move = .set("double", 2 * value) }
        do { try data.board.apply(move, EventContext(.intent(intent.id))) } catch {
            let verdict = Verdict<Move>.rejected(Rejection(message: "\(error)"))
            if flaw != .forgottenRejection { data.verdicts[intent.id] = (intent.event, verdict) }
            if flaw == .rejectedHasAnEffect { add(move, intent.id, position, &data) }
            return verdict
        }
        let isReworded = move != intent.event
        let verdict = Verdict<Move>.accepted(
            position: position, replacement: isReworded ? .event(move) : nil)
        data.verdicts[intent.id] = (intent.event, verdict)
        if flaw == .otherEventThanTheVerdict, isReworded { move = intent.event }
        add(move, intent.id, position, &data)
        return verdict
    }

    private func postponed(_ intent: Submission<Move>, _ board: Board) -> Verdict<Move>? {
        guard case .add(let key, _) = intent.event, key.hasPrefix("waits"), board.cells[key] == nil
        else { return nil }
        return flaw == .rejectsWhatWaits
            ? .rejected(Rejection(message: "\(key) is not there"))
            : .later(after: nil, reason: "\(key) is not there yet")
    }

    private func add(_ move: Move, _ id: IntentID, _ position: Position, _ data: inout Data) {
        let event = ConfirmedEvent(
            position: position, event: move, origin: flaw == .effectWithoutOrigin ? nil : id)
        switch flaw {
        case .effectMissingForItsAuthor: break
        case .verdictBeforeItsCommit: data.late.append(event)
        case .positionsUsedTwice where data.head > 0:
            data.events.append(ConfirmedEvent(position: data.head, event: move, origin: id))
            data.verdicts[id] = (move, .accepted(position: data.head, replacement: nil))
            return
        default: data.events.append(event)
        }
        data.head = position
    }

    func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Move> {
        try data.withLock { data throws(AuthorityFailure) in
            try requireShared(device, data)
            let later = data.events.filter { $0.position > device.through }
            var page = Array(later.prefix(64))
            if flaw != .pageSplitsAPosition, let last = page.last {
                page += later.dropFirst(page.count).prefix { $0.position == last.position }
            }
            let isAll = page.count == later.count
            let through = isAll ? data.head : page.last?.position ?? device.through
            return Changes(
                events: page,
                through: flaw == .throughAheadOfItsPage ? data.head : through,
                hasMore: flaw == .throughAheadOfItsPage ? false : !isAll,
                lineage: flaw == .noLineage ? nil : lineage, head: data.head,
                digest: data.digest(at: through))
        }
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Move> {
        guard flaw == .pollLooksBeforeItListens else { return try await changes(after: device) }
        for _ in 0..<5_000 where data.withLock({ $0.head <= device.through }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
        // It has not seen what came meanwhile.
        let page = try await changes(after: device)
        return Changes(
            events: [], through: page.through, hasMore: page.hasMore, lineage: page.lineage,
            head: page.head, digest: page.digest)
    }

    private func requireShared(
        _ device: SyncPoint, _ data: Data
    ) throws(AuthorityFailure) {
        if let known = device.lineage, known != lineage, flaw != .strangerIsDecided {
            throw .superseded(shared: 0)
        }
        guard device.through <= data.head || flaw == .deviceAheadIsDecided else {
            throw .superseded(shared: data.head)
        }
        guard let digest = device.digest, flaw != .otherDigestIsDecided else { return }
        let place = flaw == .digestIsComparedAtTheHead ? data.head : device.through
        guard digest == data.digest(at: place) else { throw .superseded(shared: 0) }
    }
}
