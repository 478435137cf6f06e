/// The published state, and the states before and after it that a reader can meet on disk.
struct Publication {
    /// The state that readers see.
    var current: PublishedState
    /// The state before `current`. A reader of rows may have begun to read it.
    private var previous: PublishedState?
    /// The state that is being written and is not published yet.
    var upcoming: PublishedState?

    init(current: PublishedState) { self.current = current }

    /// Makes `next` the state that readers see.
    mutating func publish(_ next: PublishedState) {
        previous = next.rows.isEmpty ? nil : current
        current = next
        upcoming = nil
    }

    /// Returns the state at `sequence`; nil if it is none of these.
    func publishedState(at sequence: LogSequence) -> PublishedState? {
        [current, upcoming, previous].lazy.compactMap { $0 }.first { $0.sequence == sequence }
    }
}
