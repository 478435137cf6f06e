import ArgumentParser
import Hummingbird
import Logging
import NIOCore
import Serving
import Synchronization

/// A server that decides nothing and keeps nothing: the cost of HTTP alone.
///
/// It has the settings of a real one. It reads each body, and answers with as many bytes as the query
/// says. A request with a wait is answered after the next body.
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
        if request.method == .post {
            waiting.end()
        } else if query["wait"] != nil {
            await waiting.wait()
        }
        let count = query["answer"].flatMap { Int($0) } ?? 0
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(repeating: UInt8(ascii: " "), count: count)))
    }
}

/// Requests that wait.
private final class Waiting: Sendable {
    private let requests = Mutex<[CheckedContinuation<Void, Never>]>([])

    func wait() async {
        await withCheckedContinuation { request in requests.withLock { $0.append(request) } }
    }

    func end() {
        let ended = requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
        for request in ended { request.resume() }
    }
}
