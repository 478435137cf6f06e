import Synchronization

/// What a server does now and has done, for its bounds and its metrics.
final class Traffic: Sendable {
    /// Bytes of all bodies that are read or decided on now (N11).
    static let bodyBytesMax = 128 << 20

    private struct State {
        var statuses: [Int: Int] = [:]
        var pollCount = 0
        var bodyBytes = 0
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

    /// Takes room for bytes of a body. Returns false if there is none.
    func take(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.bodyBytes + bytes <= Self.bodyBytesMax else { return false }
            state.bodyBytes += bytes
            return true
        }
    }

    func giveBack(_ bytes: Int) { state.withLock { $0.bodyBytes -= bytes } }

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
            foldback_body_bytes \(state.bodyBytes)
            # HELP foldback_spaces_open Spaces that are open.
            # TYPE foldback_spaces_open gauge
            foldback_spaces_open \(spacesOpen)
            # HELP foldback_spaces_failed Spaces that decide nothing because of a fault.
            # TYPE foldback_spaces_failed gauge
            foldback_spaces_failed \(spacesFailed)

            """
    }
}
