import Foldback
import TestSupport

/// A server as section 3 of the design asks for one (A1 to A5): it decides once, remembers its
/// verdicts by intent id, and orders what it accepts with gaps.
struct HonestServer {
    enum Verdict: Equatable {
        case accepted(position: Int, replacement: Move?)
        case rejected(String)
    }

    /// How effects come down: with their origins, without, or as the whole state.
    enum Downlink: CaseIterable { case named, unnamed, wholeState }

    struct Happened {
        let position: Int
        let move: Move
        let origin: IntentID?
    }

    private(set) var events: [Happened] = []
    private(set) var verdicts: [IntentID: Verdict] = [:]
    private(set) var state = Board()
    private var position = 0

    var head: Int { events.last?.position ?? 0 }

    /// Decides on an intent, or repeats what was decided (A1).
    mutating func submit(
        _ id: IntentID, _ move: Move, using random: inout SeededGenerator
    ) -> Verdict {
        if let verdict = verdicts[id] { return verdict }
        var replacement: Move?
        var words = [move]
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            verdicts[id] = .rejected("not today")
            return .rejected("not today")
        case 2: replacement = .set("reworded", Int(id.number.value))
        case 3: words.append(.set("extra", Int(id.number.value)))
        default: break
        }
        if let replacement { words = [replacement] }
        var copy = state
        for word in words {
            do { try copy.apply(word, EventContext(.intent(id))) } catch {
                verdicts[id] = .rejected("\(error)")
                return .rejected("\(error)")
            }
        }
        // Several events of one intent share a position, or take one each (F5).
        let shares = random.oneIn(2)
        position += Int.random(in: 1...3, using: &random)
        for (index, word) in words.enumerated() {
            if index > 0, !shares { position += 1 }
            happen(word, id)
        }
        let verdict = Verdict.accepted(position: position, replacement: replacement)
        verdicts[id] = verdict
        return verdict
    }

    /// Somebody else does something.
    mutating func foreign(_ move: Move, using random: inout SeededGenerator) {
        var copy = state
        position += Int.random(in: 1...3, using: &random)
        let context = EventContext(.position(Position(UInt64(position))))
        do { try copy.apply(move, context) } catch { return }
        happen(move, nil)
    }

    private mutating func happen(_ move: Move, _ origin: IntentID?) {
        let happened = Happened(position: position, move: move, origin: origin)
        events.append(happened)
        do { try state.apply(move, context(of: happened)) } catch {
            fatalError("the server applies what does not apply: \(error)")
        }
    }

    private func context(of event: Happened) -> EventContext {
        EventContext(
            event.origin.map(EventContext.Origin.intent)
                ?? .position(Position(UInt64(event.position))))
    }

    /// What happened behind a position, all of it or up to some position (A2).
    func changes(
        after start: Int, _ downlink: Downlink, upTo end: Int
    ) -> (events: [ConfirmedEvent<Move>], through: Int) {
        let news = events.filter { $0.position > start && $0.position <= end }
        switch downlink {
        case .named:
            return (news.map { $0.confirmed(origin: $0.origin) }, end)
        case .unnamed:
            return (news.map { $0.confirmed(origin: nil) }, end)
        case .wholeState:
            let whole = Happened(position: end, move: .replaceAll(cells(at: end)), origin: nil)
            return (news.isEmpty ? [] : [whole.confirmed(origin: nil)], end)
        }
    }

    private func cells(at end: Int) -> [String: Int] {
        var board = Board()
        for event in events where event.position <= end {
            try? board.apply(event.move, context(of: event))
        }
        return board.cells
    }
}

extension HonestServer.Happened {
    fileprivate func confirmed(origin: IntentID?) -> ConfirmedEvent<Move> {
        ConfirmedEvent(position: Position(UInt64(position)), event: move, origin: origin)
    }
}
