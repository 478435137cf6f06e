import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation

/// A device that was never there before fetches everything.
struct CatchUp {
    let server: LoadedServer
    let space: String
    let directory: URL

    /// Fetches into a store of documents. Returns the seconds until all effects are durable there.
    func fetchIntoStore(
        from port: Int
    ) async throws -> (seconds: Double, through: Int, use: ProcessorUse) {
        let place = directory.appending(path: "device", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: place)
        guard let address = URL(string: "http://127.0.0.1:\(port)") else {
            throw LoadError("not a port: \(port)")
        }
        let start = (ContinuousClock.now, [server].processorSeconds, Machine.processorMilliseconds)
        let store = try await Store.open(
            at: place, Documents.self, confirmedBy: .downlink, durability: .durable)
        let downlink = Downlink(
            store, from: HTTPAuthority(address, space: space, token: server.token),
            policy: .ordered)
        let result = try await downlink.fetch()
        let seconds = start.0.duration(to: .now) / .seconds(1)
        guard case .caughtUp(let through) = result else {
            throw LoadError("the device ended with \(result)")
        }
        let use = ProcessorUse(since: start, [server])
        await store.close()
        return (seconds, Int(through.value), use)
    }

    /// Fetches the same pages, and does nothing with them.
    ///
    /// - Parameter through: where the last page must end.
    func fetchAlone(
        through last: Int
    ) throws(LoadError) -> (seconds: Double, pages: Int, bytes: Int) {
        let connection = try Connection(to: server.port)
        let start = ContinuousClock.now
        var (through, pages, bytes) = (0, 0, 0)
        while true {
            let page = try connection.exchange(
                server.fetch(from: space, after: through, answerBytes: 0))
            pages += 1
            bytes += page.count
            guard let end = page.number(after: "\"through\":") else {
                throw LoadError("a page has no end")
            }
            through = end
            if page.first("\"more\":false") != nil { break }
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        guard through == last else { throw LoadError("pages end at \(through), not \(last)") }
        return (seconds, pages, bytes)
    }

    /// Fetches as many bytes from a server that decides nothing.
    static func fetchNothing(
        from server: LoadedServer, pages: Int, bytes: Int
    ) throws(LoadError) -> Double {
        let connection = try Connection(to: server.port)
        let request = server.fetch(from: "none", after: 0, answerBytes: bytes / pages)
        let start = ContinuousClock.now
        for _ in 0..<pages { try connection.exchange(request) }
        return start.duration(to: .now) / .seconds(1)
    }
}
