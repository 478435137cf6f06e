import FoldbackServer
import HTTPTypes
import Hummingbird
import NIOCore

/// Carries requests from Hummingbird to a handler, and keeps a server's bounds (N11).
struct Adapter<Event: Sendable>: HTTPResponder {
    struct Context: InitializableFromSource, Sendable {
        let channel: any Channel
        init(source: ApplicationRequestContextSource) { channel = source.channel }
    }

    let handler: Handler<Event>
    let traffic: Traffic

    func respond(to request: Request, context: Context) async throws -> Response {
        var message = ServerRequest(
            method: request.method.rawValue, path: request.uri.path,
            query: request.uri.query ?? "", bearer: Self.bearer(of: request))
        guard !traffic.isStopping else {
            return response(.problem(503, "the server is stopping", retryAfter: 1))
        }
        if request.method == .get {
            let isPoll = message.query.contains("wait=")
            let answer = isPoll ? await poll(message, context) : await handler.respond(to: message)
            return response(answer)
        }
        var taken = 0
        defer { traffic.giveBack(taken) }
        switch await body(of: request, taken: &taken) {
        case .success(let body):
            message.body = body
            return response(await handler.respond(to: message))
        case .failure(let refusal):
            // What is left of the body is not read for long.
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
            return response(refusal.answer, closes: true)
        }
    }

    private func poll(_ message: ServerRequest, _ context: Context) async -> ServerResponse {
        let handler = handler
        return await traffic.polling {
            guard let hangUp = try? await context.channel.pipeline.handler(type: HangUp.self).get()
            else { return .problem(503, "the connection is closed") }
            return await hangUp.canceling { await handler.respond(to: message) }
        }
    }

    private static func bearer(of request: Request) -> String? {
        guard let value = request.headers[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    // MARK: Bodies

    private struct Refusal: Error {
        let answer: ServerResponse

        init(_ status: Int, _ detail: String, retryAfter: Int? = nil) {
            answer = .problem(status, detail, retryAfter: retryAfter)
        }

        static var tooLarge: Refusal {
            Refusal(413, "a body has at most \(Handler<Event>.bodyBytesMax) bytes")
        }
    }

    private func body(
        of request: Request, taken: inout Int
    ) async -> Result<[UInt8], Refusal> {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > Handler<Event>.bodyBytesMax
        {
            return .failure(.tooLarge)
        }
        let read = await Self.read(request.body, traffic)
        taken = read.1
        return read.0
    }

    private static func read(
        _ body: RequestBody, _ traffic: Traffic
    ) async -> (Result<[UInt8], Refusal>, Int) {
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= Handler<Event>.bodyBytesMax else {
                    return (.failure(.tooLarge), bytes.count)
                }
                guard traffic.take(part.readableBytes) else {
                    let busy = Refusal(503, "the server has too many requests", retryAfter: 1)
                    return (.failure(busy), bytes.count)
                }
                bytes.append(contentsOf: part.readableBytesView)
            }
            return (.success(bytes), bytes.count)
        } catch is BodyDeadline.Passed {
            let time = BodyDeadline.time.nanoseconds / 1_000_000_000
            let late = Refusal(408, "the body did not come within \(time) seconds")
            return (.failure(late), bytes.count)
        } catch {
            return (.failure(Refusal(400, "the body did not come whole")), bytes.count)
        }
    }

    private func response(_ answer: ServerResponse, closes: Bool = false) -> Response {
        traffic.count(answer.status)
        var response = Response(answer)
        if closes { response.headers[.connection] = "close" }
        return response
    }
}

extension Response {
    init(_ answer: ServerResponse) {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers[name] = value
        }
        headers[.cacheControl] = "no-store"
        self.init(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
