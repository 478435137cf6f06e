import Foldback

/// The events to record. They are made before the clock starts, so that only the log's own work is
/// timed.
enum Events {
    /// The size of each encoded event in all codecs, so that raw LMDB and Foldback write the same
    /// bytes.
    static let byteCount = 60

    /// Different byte strings.
    static let raw: [[UInt8]] = (0..<1_024).map { number in
        (0..<byteCount).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
    }

    /// The byte strings of ``raw`` again and again, `count` of them.
    static func raw(count: Int) -> some Sequence<[UInt8]> {
        (0..<count).lazy.map { raw[$0 % raw.count] }
    }

    /// One change for each of `keyCount` documents.
    static func documents(keyCount: Int) -> [DocumentEvent] {
        (0..<keyCount).map { number in
            let n = JSON.integer(Int64(1_000_000_000 + number))
            return .set(key(number), ["n": n, "t": "x"])
        }
    }

    /// A key; all keys have the same length.
    static func key(_ number: Int) -> ExactString {
        let digits = String(number)
        return ExactString("k" + String(repeating: "0", count: 6 - digits.count) + digits)
    }
}

/// The cheapest possible projection, so that a measurement has only the log's own work.
struct Tally: Projection, Codable {
    private(set) var eventCount = 0
    private(set) var byteCount = 0

    static var codec: any EventCodec<[UInt8]> { IdentityCodec() }

    mutating func apply(_ event: [UInt8], _ context: EventContext) {
        eventCount += 1
        byteCount += event.count
    }
}

/// A codec for events that are already bytes.
struct IdentityCodec: EventCodec {
    let format = EventFormat(codec: 128, version: 1)
    func encode(_ event: [UInt8]) -> [UInt8] { event }
    func decode(_ bytes: RawSpan, format: EventFormat) -> [UInt8] { [UInt8](copying: bytes) }
}

/// A flat array as state. Each commit that changes it copies it once, because readers keep the
/// previous array.
struct FlatRows: Projection {
    struct Row: Sendable {
        let id: Int
        var title: String
        var isDone: Bool
    }

    enum Event: Codable, Sendable {
        case filled(count: Int)
        case toggled(Int)
    }

    private(set) var rows: [Row] = []

    mutating func apply(_ event: Event, _ context: EventContext) {
        switch event {
        case .filled(let count):
            rows = (0..<count).map { number in
                Row(id: number, title: "the title of row number \(number)", isDone: false)
            }
        case .toggled(let place): rows[place].isDone.toggle()
        }
    }
}
