import Foldback
import FoldbackHistory

/// Counts by key, with a codec of its own: the cost of a replay for an app that does not use JSON.
struct Counters: TraceableProjection, Codable {
    struct Counted: Hashable, Sendable {
        let key: Int
        let by: Int64
    }

    private(set) var counts: [Int: Int64] = [:]

    static var codec: any EventCodec<Counted> {
        PackedCodec(CountedBytes(), as: EventFormat(codec: 128, version: 1))
    }

    mutating func apply(_ event: Counted, _ context: EventContext) {
        counts[event.key, default: 0] += event.by
    }

    static func keys(touchedBy event: Counted, _ context: EventContext) -> [Int] { [event.key] }

    func part(at key: Int) -> Int64? { counts[key] }

    static func places(touchedBy event: Counted, _ context: EventContext) -> [JSONPointer]? {
        [JSONPointer(["counts", ExactString(String(event.key))])]
    }

    static func events(keyCount: Int) -> [Counted] {
        (0..<keyCount).map { Counted(key: $0, by: 1) }
    }
}

private struct CountedBytes: ByteCodec {
    func encode(_ event: Counters.Counted, into output: inout OutputBuffer) {
        output.append(event.key)
        output.append(event.by)
    }

    func decode(_ bytes: RawSpan) throws -> Counters.Counted {
        var cursor = InputCursor()
        let event = Counters.Counted(
            key: try cursor.number(in: bytes), by: try cursor.number(in: bytes))
        try cursor.requireEnd(of: bytes)
        return event
    }
}
