import Foldback
import FoldbackServer
import Hummingbird

/// Answers operators on their own port: `/health/live`, `/health/ready`, `/metrics`.
struct Health<R: Rules>: HTTPResponder {
    struct Context: InitializableFromSource, Sendable {
        init(source: ApplicationRequestContextSource) {}
    }

    let spaces: Spaces<R>
    let traffic: Traffic

    func respond(to request: Request, context: Context) async throws -> Response {
        guard request.method == .get else {
            let refusal = Response(.problem(405, "the method must be GET"))
            return request.method == .head ? refusal.createHeadResponse() : refusal
        }
        switch request.uri.path {
        case "/health/live":
            return Self.response(200, "application/json", #"{"live":true}"#)
        case "/health/ready": return await ready()
        case "/metrics":
            let status = await spaces.status()
            return Self.response(
                200, "text/plain; version=0.0.4",
                traffic.metrics(
                    spacesOpen: status.openCount, spacesFailed: status.faults.count))
        default: return Response(.problem(404, "there is nothing at this path"))
        }
    }

    /// A space with a fault does not make the server unready: the others are served (N9).
    private func ready() async -> Response {
        let isReady = !traffic.isStopping
        var faults: JSON.Object = [:]
        for (space, reason) in await spaces.status().faults {
            faults[ExactString(space.description)] = .string(ExactString(reason))
        }
        let answer: JSON.Object = ["ready": .bool(isReady), "faults": .object(faults)]
        return Self.response(
            isReady ? 200 : 503, "application/json", "\(JSON.object(answer))")
    }

    private static func response(_ status: Int, _ type: String, _ body: String) -> Response {
        Response(
            status: .init(code: status),
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}
