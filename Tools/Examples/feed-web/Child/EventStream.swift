import FlyingSocks

/// The server-sent events of a screen for one page, as the bytes of a response that does not end.
///
/// The server speaks HTTP/1.1, and a browser opens at most six connections to it. So commands of pages
/// wait if six pages listen at the same time.
struct EventStream: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    private let hub: Hub
    /// The id of the last event that the page has; nil if it has none.
    private let lastID: String?
    /// Rings after new messages. Nil before the first reading.
    private var bell: AsyncStream<Void>?
    /// The number of the last message that was read.
    private var last: Int?
    private var beats = 0

    init(hub: Hub, lastID: String?) { (self.hub, self.lastID) = (hub, lastID) }

    func makeAsyncIterator() -> EventStream { self }

    mutating func nextBuffer(suggested count: Int) async -> [UInt8]? {
        while !Task.isCancelled {
            let isFirst = bell == nil
            if let bell {
                // What has rung meanwhile is in the stream, and not in its iterators.
                var rings = bell.makeAsyncIterator()
                guard await rings.next() != nil else { return nil }
            } else {
                (bell, last, beats) = await start()
            }
            let (events, beats) = await unread()
            // A page that is up to date sees at once that the connection is open.
            let isAlive = isFirst || beats != self.beats
            (last, self.beats) = (events.last, beats)
            if !events.bytes.isEmpty { return events.bytes }
            if isAlive { return Self.signOfLife }
        }
        return nil
    }

    private static let signOfLife = Array(": connected\n\n".utf8)

    @MainActor private func start() -> (AsyncStream<Void>?, Int?, Int) {
        (hub.listen(), hub.number(of: lastID), hub.beats)
    }

    @MainActor private func unread() -> (events: (bytes: [UInt8], last: Int), beats: Int) {
        (hub.events(after: last), hub.beats)
    }

    mutating func next() async -> UInt8? { preconditionFailure("FlyingFox reads buffers") }
}
