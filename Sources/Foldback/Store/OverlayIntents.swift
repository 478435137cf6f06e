/// The intents of an overlay in number order, at one commit.
///
/// ```swift
/// for intent in store.overlay where intent.state == .pending { show(intent) }
/// let newest = store.overlay.last
/// ```
///
/// A value: later commits do not change it. It shares the store's own list, so to ask for it is
/// O(1), and an intent is copied when it is read. `Array(store.overlay)` copies all of them.
///
/// Reading an intent by its index takes a step for each 2,048 intents before it. To visit all
/// intents, use a `for` loop over the intents instead of the indices.
public struct OverlayIntents<Event: Sendable>: RandomAccessCollection, Sendable {
    /// One intent.
    public typealias Element = OverlayIntent<Event>

    private let overlay: Overlay

    init(_ overlay: Overlay) { self.overlay = overlay }

    /// The place of the first intent: 0.
    public var startIndex: Int { 0 }
    /// The number of intents.
    public var endIndex: Int { overlay.count }

    /// Returns the intent at a place. Traps if there is none.
    public subscript(place: Int) -> OverlayIntent<Event> {
        OverlayIntent(overlay.pair(atOffset: place).value)
    }

    /// An iterator over the intents.
    public struct Iterator: IteratorProtocol {
        private var pairs: Overlay.Iterator

        fileprivate init(_ pairs: Overlay.Iterator) { self.pairs = pairs }

        /// Returns the next intent; nil after the last.
        public mutating func next() -> OverlayIntent<Event>? {
            pairs.next().map { OverlayIntent($0.value) }
        }
    }

    /// Returns an iterator that begins with the lowest number.
    public func makeIterator() -> Iterator { Iterator(overlay.makeIterator()) }
}

/// An intent in the overlay: pending or accepted.
public struct OverlayIntent<Event: Sendable>: Sendable {
    private let intent: UnsettledIntent

    init(_ intent: UnsettledIntent) { self.intent = intent }

    /// The replica that recorded the intent, and its number.
    public var id: IntentID { intent.recorded.id }
    /// The event that the overlay folds: the server's replacement if there is one, else the
    /// recorded event (F3).
    ///
    /// Nil if this code cannot read it (L5). For the view; ``recordedEvent`` is the event to send.
    public var event: Event? { intent.payload.event() }
    /// `.pending` or `.accepted`.
    public var state: IntentState { intent.state }
    /// When the intent was recorded.
    public var time: Timestamp { intent.recorded.time }
    /// Whether the intent is listed, but folded only once it is confirmed (F13).
    public var isConfirmOnly: Bool { intent.recorded.isConfirmOnly }
    /// The `info` with which it was recorded.
    public var info: [String: String] { intent.recorded.info }
    /// The intent's once key; nil if none. While the intent is in the overlay, recording with this
    /// key returns it (F14).
    public var once: String? { intent.recorded.once?.string }
    /// The rejected intent that this intent retries; nil if none.
    public var retries: IntentNumber? { intent.recorded.retries }
    /// Whether the intent was recorded as a draft; it may be released since (F22).
    public var isDraft: Bool { intent.recorded.terms.isHeld }
    /// The key with which a later intent can replace it; nil if none (F16).
    public var replacingKey: String? { intent.recorded.terms.replacingKey?.string }
    /// The first of the intents that were recorded together with it; nil if it was recorded alone
    /// (F20).
    public var group: IntentNumber? { intent.recorded.terms.group }
    /// The intent that it undoes; nil if none (F21).
    public var undoes: IntentNumber? { intent.recorded.terms.undoes }
    /// The event as it was recorded, to be sent to the server, always under the same id (A1).
    ///
    /// Nil if this code cannot read it (L5).
    public var recordedEvent: Event? { intent.recorded.payload.event() }
    /// The intent's number in this log.
    public var number: IntentNumber { intent.recorded.number }
}
