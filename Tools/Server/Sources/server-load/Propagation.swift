import Foundation

/// One device sends intents, one at a time. Another device waits for the effect of each with a long poll.
enum Propagation {
    /// Returns the times in milliseconds, ascending: from sending an intent until the other device has the
    /// effect.
    ///
    /// - Parameters:
    ///   - other: the server of the device that waits; nil for the same.
    ///   - pause: milliseconds before each intent. Most often, the server then has the poll before it.
    ///   - answerBytes: the sizes of the answers of a server that decides nothing.
    static func round(
        on server: LoadedServer, readingFrom other: LoadedServer? = nil, space: String, count: Int,
        pause: UInt32 = 2, answerBytes: (verdict: Int, page: Int) = (0, 0)
    ) throws(LoadError) -> (latencies: [Double], answerBytes: (verdict: Int, page: Int)) {
        let body = Devices.body(device: 0, 1)
        var request = Numbered(
            server.submission(body, to: space, answerBytes: answerBytes.verdict), numberCount: 1)
        let sender = try Connection(to: server.port)
        let reader = try Connection(to: (other ?? server).port)
        // It opens the space, and tells its head: a server that decides nothing counts requests.
        var through = try sender.exchange(request.next()).number(after: "\"head\":") ?? 1
        var sizes = answerBytes
        var latencies: [Double] = []
        for _ in 0..<count {
            try reader.send(
                server.fetch(
                    from: space, after: through, wait: 25, answerBytes: answerBytes.page))
            usleep(pause * 1_000)
            let start = ContinuousClock.now
            try sender.send(request.next())
            // Meanwhile, the sender's own answer waits in its socket.
            let page = try reader.receive()
            latencies.append(start.duration(to: .now) / .milliseconds(1))
            sizes.page = page.count
            through += 1
            if server.kind == .deciding {
                guard page.count(of: "\"origin\":") == 1,
                    let end = page.number(after: "\"through\":")
                else { throw LoadError("wrong page: \(String(decoding: page, as: UTF8.self))") }
                through = end
            }
            let verdict = try sender.receive()
            sizes.verdict = verdict.count
            guard server.kind == .nothing || verdict.count(of: "\"accepted\":{") == 1 else {
                throw LoadError("not accepted: \(String(decoding: verdict, as: UTF8.self))")
            }
        }
        return (latencies.sorted(), sizes)
    }
}
