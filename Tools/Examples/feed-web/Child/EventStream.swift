import FlyingFox
import FlyingSocks

/// The server-sent events of a screen for one page, as the bytes of a response that does not end.
///
/// The server speaks HTTP/1.1, and a browser opens at most six connections to it. So commands of pages
/// wait if six pages listen at the same time.
struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    let hub: Hub
    /// The id of the last event that the page has; nil if it has none.
    let lastID: String?

    func makeAsyncIterator() -> Iterator { Iterator(hub: hub, lastID: lastID) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        private let hub: Hub
        private let lastID: String?
        private var bell: AsyncStream<Void>.Iterator?
        private var last: Int?
        private var beats = 0
        private var buffer: ArraySlice<UInt8> = []

        fileprivate init(hub: Hub, lastID: String?) {
            self.hub = hub
            self.lastID = lastID
        }

        mutating func nextBuffer(suggested count: Int) async -> [UInt8]? {
            while !Task.isCancelled {
                if bell == nil {
                    let (stream, number, now) = await Self.start(hub, lastID)
                    bell = stream.makeAsyncIterator()
                    (last, beats) = (number, now)
                    // A page that is up to date sees at once that the connection is open.
                    return await read() ?? Self.signOfLife
                }
                guard await bell?.next() != nil else { return nil }
                if let bytes = await read() { return bytes }
            }
            return nil
        }

        private static let signOfLife = Array(": connected\n\n".utf8)

        @MainActor private static func start(
            _ hub: Hub, _ lastID: String?
        ) -> (AsyncStream<Void>, Int?, Int) {
            (hub.listen(), hub.number(of: lastID), hub.beats)
        }

        /// Returns new events, or a comment after a beat; nil if there is neither.
        private mutating func read() async -> [UInt8]? {
            let (events, beats) = await Self.unread(hub, after: last)
            let isBeat = beats != self.beats
            (last, self.beats) = (events.last, beats)
            return events.bytes.isEmpty ? (isBeat ? Self.signOfLife : nil) : events.bytes
        }

        @MainActor private static func unread(
            _ hub: Hub, after last: Int?
        ) -> (events: (bytes: [UInt8], last: Int), beats: Int) {
            (hub.events(after: last), hub.beats)
        }

        mutating func next() async -> UInt8? {
            if buffer.isEmpty {
                guard let bytes = await nextBuffer(suggested: 1) else { return nil }
                buffer = bytes[...]
            }
            return buffer.popFirst()
        }
    }
}
