import Foldback

/// The authority: decides on intents, and has what other devices do.
struct Server {
    enum Decision {
        case accepted(Position)
        case rejected
    }

    private var shelf = NaiveShelf()
    private var last: Position = 0
    /// The events that the device has not fetched.
    private var feed: [ConfirmedEvent<ShelfEvent>] = []

    var hasNews: Bool { !feed.isEmpty }
    /// The number of things that are there.
    func count(of item: Int) -> Int { shelf.counts[item] ?? 0 }

    /// Decides on an intent.
    ///
    /// - Parameter isRefused: whether it is rejected in any case.
    mutating func decide(
        _ event: ShelfEvent, of id: IntentID?, isRefused: Bool
    ) -> Decision {
        guard !isRefused, shelf.take(event) else { return .rejected }
        // Positions have gaps.
        last = Position(last.value + 1 + last.value % 2)
        feed.append(ConfirmedEvent(position: last, event: event, origin: id))
        return .accepted(last)
    }

    /// Returns the next events, at most `countMax`.
    mutating func page(countMax: Int) -> [ConfirmedEvent<ShelfEvent>] {
        defer { feed.removeFirst(min(countMax, feed.count)) }
        return Array(feed.prefix(countMax))
    }
}
