import Foldback
import TestSupport

/// A server that keeps A1 to A5: it decides each intent once, remembers its verdicts by intent id, and orders the
/// accepted events with gaps.
struct HonestServer {
    enum Verdict: Equatable {
        case accepted(position: Int, replacement: Move?)
        case rejected(String)
    }

    /// How the downlink delivers effects: with their origins, without, or as the whole state.
    enum Downlink: CaseIterable { case named, unnamed, wholeState }

    struct ServerEvent {
        let position: Int
        let move: Move
        let origin: IntentID?
    }

    private(set) var events: [ServerEvent] = []
    private(set) var verdicts: [IntentID: Verdict] = [:]
    private(set) var state = Board()
    private var position = 0

    var head: Int { events.last?.position ?? 0 }

    /// Decides an intent, or repeats its verdict (A1).
    mutating func submit(
        _ id: IntentID, _ move: Move, using random: inout SeededGenerator
    ) -> Verdict {
        if let verdict = verdicts[id] { return verdict }
        var replacement: Move?
        var moves = [move]
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            verdicts[id] = .rejected("not today")
            return .rejected("not today")
        case 2: replacement = .set("reworded", Int(id.number.value))
        case 3: moves.append(.set("extra", Int(id.number.value)))
        default: break
        }
        if let replacement { moves = [replacement] }
        var copy = state
        for move in moves {
            do { try copy.apply(move, EventContext(.intent(id))) } catch {
                verdicts[id] = .rejected("\(error)")
                return .rejected("\(error)")
            }
        }
        // Several events of one intent share a position, or have one each (F5).
        let shares = random.oneIn(2)
        position += Int.random(in: 1...3, using: &random)
        for (index, move) in moves.enumerated() {
            if index > 0, !shares { position += 1 }
            append(move, id)
        }
        let verdict = Verdict.accepted(position: position, replacement: replacement)
        verdicts[id] = verdict
        return verdict
    }

    /// Another user's move.
    mutating func foreign(_ move: Move, using random: inout SeededGenerator) {
        var copy = state
        position += Int.random(in: 1...3, using: &random)
        let context = EventContext(.position(Position(UInt64(position))))
        do { try copy.apply(move, context) } catch { return }
        append(move, nil)
    }

    private mutating func append(_ move: Move, _ origin: IntentID?) {
        let event = ServerEvent(position: position, move: move, origin: origin)
        events.append(event)
        do { try state.apply(move, context(of: event)) } catch {
            fatalError("the server accepted a move that does not apply: \(error)")
        }
    }

    private func context(of event: ServerEvent) -> EventContext {
        EventContext(
            event.origin.map(EventContext.Origin.intent)
                ?? .position(Position(UInt64(event.position))))
    }

    /// The events after `start`, up to `end` (A2).
    func changes(
        after start: Int, _ downlink: Downlink, upTo end: Int
    ) -> (events: [ConfirmedEvent<Move>], through: Int) {
        let newEvents = events.filter { $0.position > start && $0.position <= end }
        switch downlink {
        case .named:
            return (newEvents.map { $0.confirmed(origin: $0.origin) }, end)
        case .unnamed:
            return (newEvents.map { $0.confirmed(origin: nil) }, end)
        case .wholeState:
            let whole = ServerEvent(position: end, move: .replaceAll(cells(at: end)), origin: nil)
            return (newEvents.isEmpty ? [] : [whole.confirmed(origin: nil)], end)
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

extension HonestServer.ServerEvent {
    fileprivate func confirmed(origin: IntentID?) -> ConfirmedEvent<Move> {
        ConfirmedEvent(position: Position(UInt64(position)), event: move, origin: origin)
    }
}
