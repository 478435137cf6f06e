import Synchronization

/// What a server does now and has done, for its bounds and its metrics.
final class Traffic: Sendable {
    /// Bytes of all bodies that are read or decided on now.
    let bodies = Room(bytesMax: 128 << 20)
    /// Bytes of the large answers that wait for their readers.
    let answers = Room(bytesMax: 128 << 20)

    private struct State {
        var statuses: [Int: Int] = [:]
        var pollCount = 0
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Whether the server takes no new requests.
    var isStopping: Bool { state.withLock { $0.isStopping } }
    func stop() { state.withLock { $0.isStopping = true } }

    func count(_ status: Int) { state.withLock { $0.statuses[status, default: 0] += 1 } }

    func polling<T>(_ body: () async -> T) async -> T {
        state.withLock { $0.pollCount += 1 }
        defer { state.withLock { $0.pollCount -= 1 } }
        return await body()
    }

    /// The metrics in the text format of Prometheus, version 0.0.4.
    func metrics(spacesOpen: Int, spacesFailed: Int) -> String {
        let state = state.withLock { $0 }
        let statuses = state.statuses.sorted { $0.key < $1.key }
            .map { "foldback_requests_total{status=\"\($0)\"} \($1)\n" }
        return """
            # HELP foldback_requests_total Answered requests by HTTP status.
            # TYPE foldback_requests_total counter
            \(statuses.joined())\
            # HELP foldback_polls_open Long polls that wait for an event.
            # TYPE foldback_polls_open gauge
            foldback_polls_open \(state.pollCount)
            # HELP foldback_body_bytes Bytes of the bodies that are read or decided on.
            # TYPE foldback_body_bytes gauge
            foldback_body_bytes \(bodies.used)
            # HELP foldback_answer_bytes Bytes of large answers that wait for their readers.
            # TYPE foldback_answer_bytes gauge
            foldback_answer_bytes \(answers.used)
            # HELP foldback_spaces_open Spaces that are open.
            # TYPE foldback_spaces_open gauge
            foldback_spaces_open \(spacesOpen)
            # HELP foldback_spaces_failed Spaces that decide nothing because of a fault.
            # TYPE foldback_spaces_failed gauge
            foldback_spaces_failed \(spacesFailed)

            """
    }
}
