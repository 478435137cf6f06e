import Foldback
import FoldbackExamples

/// The latest intents of a device's log, each from the entry that recorded it to the entry that
/// answered it.
struct LogTrace {
    private var lanes: [WireLane] = []
    /// The first entry that was not read; nil before the first reading.
    private var next: LogSequence?

    private static let lanesMax = 6
    /// The number of entries that the first reading looks at.
    private static let entriesMax: UInt64 = 64

    /// Reads the entries that are new.
    mutating func read(_ store: Store<Timeline>) {
        let last = store.status.sequence
        var next = self.next ?? LogSequence(max(last.value, Self.entriesMax) - Self.entriesMax + 1)
        defer { self.next = next }
        do throws(LogError) {
            while next <= last {
                let entries = try store.entries(from: next, countMax: .max)
                guard let end = entries.last?.sequence else { return }
                for entry in entries { note(entry) }
                next = LogSequence(end.value + 1)
            }
        } catch { complain("the entries from \(next) on cannot be read: \(error)") }
    }

    private mutating func note(_ entry: LogEntry<FeedEvent>) {
        switch entry.content {
        case .intent(let intent):
            let what = intent.event.event?.did.name ?? "change"
            lanes.append(
                WireLane(number: intent.number.value, what: what, from: entry.sequence.value))
            if lanes.count > Self.lanesMax { lanes.removeFirst() }
        case .acknowledged(let number, _, _): change(number) { $0.state = "accepted" }
        case .changed(let number, let change): note(change, of: number, at: entry.sequence)
        case .confirmed(let events, _):
            for case let origin? in events.map(\.origin) where origin.replica == entry.replica {
                end(origin.number, "confirmed", at: entry.sequence)
            }
        }
    }

    private mutating func note(
        _ change: IntentChange, of number: IntentNumber, at sequence: LogSequence
    ) {
        switch change {
        case .rejected: end(number, "rejected", at: sequence)
        case .withdrawn, .abandoned, .undone, .lapsed: end(number, "withdrawn", at: sequence)
        case .restored: self.change(number) { ($0.to, $0.state) = (nil, "pending") }
        case .dismissed, .released: break
        }
    }

    private mutating func end(_ number: IntentNumber, _ state: String, at sequence: LogSequence) {
        change(number) { ($0.to, $0.state) = (sequence.value, state) }
    }

    private mutating func change(_ number: IntentNumber, _ body: (inout WireLane) -> Void) {
        guard let place = lanes.firstIndex(where: { $0.number == number.value }) else { return }
        body(&lanes[place])
    }

    /// - Parameter conflicted: the intents that do not apply now.
    func shown(conflicted: [IntentNumber]) -> WireLog {
        var lanes = lanes
        for place in lanes.indices where lanes[place].to == nil {
            let isConflicted = conflicted.contains { $0.value == lanes[place].number }
            if isConflicted { lanes[place].state = "conflicted" }
        }
        return WireLog(last: (next?.value ?? 1) - 1, lanes: lanes)
    }
}
