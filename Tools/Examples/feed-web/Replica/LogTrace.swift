import Foldback
import FoldbackExamples

/// The latest intents of a device's log, each from the entry that recorded it to the entry that
/// settled it.
struct LogTrace {
    private var lanes: [Lane] = []
    /// The first entry that was not read; nil before the first reading.
    private var next: LogSequence?

    /// An intent, and the last entry that answered it or took it back.
    private struct Lane {
        let number: IntentNumber
        let what: String
        let from: LogSequence
        var last: LogSequence?
    }

    private static let lanesMax = 6
    /// The number of entries that the first reading looks at.
    private static let entriesMax: UInt64 = 64

    /// Reads the entries that are new.
    mutating func read(_ store: Store<Timeline>) throws(LogError) {
        let end = store.status.sequence
        var next = self.next ?? LogSequence(max(end.value, Self.entriesMax) - Self.entriesMax + 1)
        defer { self.next = next }
        while next <= end {
            for entry in try store.entries(from: next, countMax: .max) {
                note(entry)
                next = LogSequence(entry.sequence.value + 1)
            }
        }
    }

    private mutating func note(_ entry: LogEntry<FeedEvent>) {
        switch entry.content {
        case .intent(let intent):
            let what = intent.event.event?.did.name ?? "change"
            lanes.append(Lane(number: intent.number, what: what, from: entry.sequence))
            if lanes.count > Self.lanesMax { lanes.removeFirst() }
        case .changed(_, .dismissed), .changed(_, .released): break
        case .acknowledged(let number, _, _), .changed(let number, _):
            end([number], at: entry.sequence)
        case .confirmed:
            end(
                entry.origins.filter { $0.replica == entry.replica }.map(\.number),
                at: entry.sequence)
        }
    }

    private mutating func end(_ numbers: [IntentNumber], at sequence: LogSequence) {
        for place in lanes.indices where numbers.contains(lanes[place].number) {
            lanes[place].last = sequence
        }
    }

    /// The lanes with the states that the store has for their intents now.
    func shown(_ store: Store<Timeline>) throws(LogError) -> WireLog {
        let conflicted = store.snapshot.conflicted
        var shown: [WireLane] = []
        for lane in lanes {
            let state = try store.intent(lane.number).state
            let isConflicted = !state.isSettled && conflicted.contains(lane.number)
            shown.append(
                WireLane(
                    number: lane.number.value, what: lane.what, from: lane.from.value,
                    to: state.isSettled ? lane.last?.value : nil,
                    state: isConflicted ? "conflicted" : state.rawValue))
        }
        return WireLog(last: (next?.value ?? 1) - 1, lanes: shown)
    }
}
