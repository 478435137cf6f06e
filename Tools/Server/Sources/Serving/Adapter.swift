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
            return refusing(
                .problem(503, "the server is stopping", retryAfter: 1), request, context)
        }
        if request.method == .get {
            // A name in a query may be encoded.
            let isPoll = message.query.contains("wait=") || message.query.contains("%")
            let answer = isPoll ? await poll(message, context) : await handler.respond(to: message)
            return response(answer, context)
        }
        if let refusal = await handler.refusal(of: message) {
            return refusing(refusal, request, context)
        }
        // It is given back when the answer is made.
        let share = traffic.bodies.share()
        defer { withExtendedLifetime(share) {} }
        switch await body(of: request, share) {
        case .success(let body):
            message.body = body
            return response(await handler.respond(to: message), context)
        case .failure(let refusal): return refusing(refusal.answer, request, context)
        }
    }

    /// Answers a request whose body is not read to its end. The client may send on for a second.
    private func refusing(
        _ answer: ServerResponse, _ request: Request, _ context: Context
    ) -> Response {
        let channel = context.channel
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        var response = response(answer, context)
        response.headers[.connection] = "close"
        return request.method == .head ? response.createHeadResponse() : response
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
        of request: Request, _ share: Room.Share
    ) async -> Result<[UInt8], Refusal> {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > Handler<Event>.bodyBytesMax
        {
            return .failure(.tooLarge)
        }
        var bytes: [UInt8] = []
        do {
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= Handler<Event>.bodyBytesMax else {
                    return .failure(.tooLarge)
                }
                guard share.grow(by: part.readableBytes) else {
                    return .failure(
                        Refusal(503, "the server has too many requests", retryAfter: 1))
                }
                bytes.append(contentsOf: part.readableBytesView)
            }
            return .success(bytes)
        } catch is BodyDeadline.Passed {
            let time = BodyDeadline.time.nanoseconds / 1_000_000_000
            return .failure(Refusal(408, "the body did not come within \(time) seconds"))
        } catch {
            return .failure(Refusal(400, "the body did not come whole"))
        }
    }

    // MARK: Answers

    /// Answers of at most so many bytes leave at once.
    private static var smallAnswerMax: Int { 64 << 10 }
    /// The seconds, and besides the bytes a second, that a reader has for a large answer.
    private static var readingTime: Int64 { 60 }
    private static var readingSpeed: Int { 16 << 10 }

    private func response(
        _ answer: ServerResponse, _ context: Context
    ) -> Response {
        var answer = answer
        let share = traffic.answers.share()
        let isLarge = answer.body.count > Self.smallAnswerMax
        if isLarge, !share.grow(by: answer.body.count) {
            answer = .problem(503, "too many answers wait for their readers", retryAfter: 1)
        }
        traffic.count(answer.status)
        var response = Response(answer)
        guard isLarge, answer.status == 200 else { return response }
        // The next request of the connection is carried out when these bytes have left the process. The
        // connection says whether it takes more only after it has begun to send them.
        let (body, channel) = (ByteBuffer(bytes: answer.body), context.channel)
        let seconds = Self.readingTime + Int64(body.readableBytes / Self.readingSpeed)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            defer { withExtendedLifetime(share) {} }
            let deadline = channel.eventLoop.scheduleTask(in: .seconds(seconds)) {
                channel.close(promise: nil)
            }
            defer { deadline.cancel() }
            try await writer.write(body)
            try await channel.eventLoop.submit {}.get()
            try await writer.finish(nil)
        }
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
