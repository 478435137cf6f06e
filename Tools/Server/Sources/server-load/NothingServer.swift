import ArgumentParser
import Hummingbird
import Logging
import NIOCore
import Serving
import Synchronization

/// A server that decides nothing and keeps nothing: the cost of HTTP alone.
///
/// It has the settings of a real one. It reads each body, and answers with as many bytes as the query
/// says. The number of bodies of a space is its head, for polls.
struct NothingServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nothing", abstract: "Serves without deciding.", shouldDisplay: false)

    func run() async throws {
        ServerProcess.prepare()
        var logger = Logger(label: "nothing") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        try await ServerProcess.application(
            NothingResponder(), host: "127.0.0.1", port: 0, connectionsMax: 12_000,
            name: "listening", logger: logger
        ).run()
    }
}

private struct NothingResponder: HTTPResponder {
    struct Context: InitializableFromSource, Sendable {
        init(source: ApplicationRequestContextSource) {}
    }

    private let waiting = Waiting()

    func respond(to request: Request, context: Context) async throws -> Response {
        var body: [UInt8] = []
        for try await part in request.body { body.append(contentsOf: part.readableBytesView) }
        let query = request.uri.queryParameters
        let space = request.uri.path.split(separator: "/").dropLast().joined()
        if request.method == .post {
            waiting.end(space)
        } else if query["wait"] != nil {
            await waiting.wait(for: space, after: query["after"].flatMap { Int($0) } ?? 0)
        }
        let count = query["answer"].flatMap { Int($0) } ?? 0
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(repeating: UInt8(ascii: " "), count: count)))
    }
}

/// Polls that wait for the next body of a space.
private final class Waiting: Sendable {
    private struct Space {
        var head = 0
        var polls: [CheckedContinuation<Void, Never>] = []
    }

    private let spaces = Mutex<[String: Space]>([:])

    func wait(for space: String, after position: Int) async {
        await withCheckedContinuation { poll in
            // The body may have come before its poll.
            let isHere = spaces.withLock { spaces in
                if spaces[space, default: Space()].head > position { return true }
                spaces[space, default: Space()].polls.append(poll)
                return false
            }
            if isHere { poll.resume() }
        }
    }

    func end(_ space: String) {
        let polls = spaces.withLock { spaces in
            spaces[space, default: Space()].head += 1
            defer { spaces[space]?.polls = [] }
            return spaces[space]?.polls ?? []
        }
        for poll in polls { poll.resume() }
    }
}
