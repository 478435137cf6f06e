/// The confirmed events that this code could not read, by entry. Confirmed state lacks them (E4).
///
/// For each entry, it has the places of these events, as in ``FoldPlan/unread``. A copy is cheap,
/// because each commit publishes one.
package struct UnreadEvents: Sendable, Equatable {
    private var places = NumberMap<LogSequence, [Int]>()

    package init() {}

    package var isEmpty: Bool { places.isEmpty }
    /// The number of entries with such events.
    package var entryCount: Int { places.count }
    /// The first entry with such an event; nil if there is none.
    package var first: LogSequence? { places.first?.key }
    /// The last entry with such an event; nil if there is none.
    package var last: LogSequence? { places.last?.key }

    /// The entries, ascending, each with the ascending places of its events.
    package var entries: NumberMap<LogSequence, [Int]> { places }

    /// Adds an entry's events. Does nothing if there are none.
    ///
    /// - Parameter places: ascending, and not negative.
    package mutating func append(_ places: [Int], at sequence: LogSequence) {
        guard !places.isEmpty else { return }
        self.places[sequence] = places
    }

    package static func == (a: UnreadEvents, b: UnreadEvents) -> Bool {
        a.places.elementsEqual(b.places) { $0.key == $1.key && $0.value == $1.value }
    }
}
