import FlyingFox
import Foldback
import Foundation

/// The routes of the server.
struct Server: HTTPHandler {
    let world: World
    let gate: Gate

    func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
        do {
            // A body that is not read would be taken for the next request, so it is read first.
            let body = try await gate.body(of: request)
            return try await response(to: request, body)
        } catch {
            let refusal = Refusal(error)
            // A browser reports other codes as errors of the page, and a command that comes too late
            // is not an error.
            let isLate = refusal.status == .conflict && request.method == .POST
            return .json(
                ["error": refusal.reason], isLate ? .ok : refusal.status,
                isLast: refusal.endsConnection)
        }
    }

    private func response(to request: HTTPRequest, _ body: Data) async throws -> HTTPResponse {
        if request.method == .GET, let (bytes, type) = Self.files[request.path] {
            return .content(bytes, "text/\(type); charset=utf-8")
        }
        let path = request.path.split(separator: "/").map(String.init)
        switch (request.method.rawValue, path.first, path.dropFirst().last, path.count) {
        case ("GET", nil, nil, 0): return try await page(request)
        case ("GET", "r", "events", 3): return try await events(path[1], request)
        case ("GET", "r", "log", 3): return try await log(path[1], request)
        case ("GET", "r", "state", 3): return try await state(path[1], request)
        case ("GET", "stage", nil, 1): return .json(await world.shownStage)
        case ("POST", "r", "do", 3): return try await perform(path[1], request, body)
        case ("POST", "stage", nil, 1):
            try await world.perform(try command(StageCommand.self, in: body).0)
            return .json(await world.shownStage)
        case ("GET", _, _, _), ("POST", _, _, _):
            throw Refusal(.notFound, "there is no \(request.path)")
        default:
            throw Refusal(.methodNotAllowed, "\(request.method.rawValue) is not used here")
        }
    }

    private static let files: [String: ([UInt8], String)] = [
        "/feed.css": (PackageResources.feed_css, "css"),
        "/feed.js": (PackageResources.feed_js, "javascript"),
        "/stage.js": (PackageResources.stage_js, "javascript"),
    ]

    private func page(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let name = request.query["replica"] else {
            let scenes = ["feed", "waits", "archive"]
            let scene = scenes.first { $0 == request.query["scene"] }.map { "&scene=\($0)" } ?? ""
            return HTTPResponse(
                statusCode: .found,
                headers: .safe.adding(.location, "/?replica=\(world.names.first ?? "")\(scene)"))
        }
        _ = try await world.screen(name)
        return .content(PackageResources.feed_html, "text/html; charset=utf-8")
    }

    private func events(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
        let publisher = try await world.screen(name).appear(PageQuery(request.query))
        let stream = EventStream(
            hub: publisher.hub,
            lastID: request.headers[HTTPHeader("Last-Event-ID")] ?? request.query["after"])
        return HTTPResponse(
            statusCode: .ok, headers: .safe.adding(.contentType, "text/event-stream"),
            body: HTTPBodySequence(from: stream))
    }

    /// Leads to the page that shows a device's log, and there to an intent.
    private func log(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
        let address = try await world.addressOfLog(of: name)
        let number = request.query["intent"].flatMap { UInt64($0) }
        let place = number.map { "#tab=intent&story=\($0)" } ?? ""
        // The page's cookie is for the name under which the browser knows this machine.
        let host = request.headers[.host]?.split(separator: ":").first ?? "127.0.0.1"
        return HTTPResponse(
            statusCode: .seeOther,
            headers: .safe.adding(
                .location, address.replacing("127.0.0.1", with: host, maxReplacements: 1) + place))
    }

    /// What the pages of a replica show. Asking loads and changes nothing.
    private func state(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
        let screen = try await world.screen(name)
        let isArchive = PageQuery(request.query).isArchive
        let publisher =
            isArchive ? try await screen.archivePublisher() : await screen.publisher
        return .json(await publisher.hub.state)
    }

    private func perform(
        _ name: String, _ request: HTTPRequest, _ body: Data
    ) async throws -> HTTPResponse {
        let screen = try await world.screen(name)
        let publisher = try await screen.appear(PageQuery(request.query))
        let (wanted, control) = try command(ReplicaCommand.self, in: body)
        let number = try await screen.perform(wanted, from: control)
        await world.settle()
        return .json(Done(number: number?.value, revision: await publisher.hub.revision))
    }

    private struct Done: Encodable {
        /// The number of the intent; absent if none was recorded.
        let number: UInt64?
        /// The revision that shows it, or an earlier message does.
        let revision: String
    }
}

extension Refusal {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as Refusal: self = error
        case CommandError.log(let error), let error as LogError:
            self.init(error.serverStatus ?? .conflict, error.errorDescription ?? "\(error)")
        case let error as CommandError:
            self.init(.conflict, error.errorDescription ?? "\(error)")
        default: self.init(.internalServerError, "\(error)")
        }
    }
}

extension LogError {
    /// The status if the server has failed, and not the command.
    fileprivate var serverStatus: HTTPStatusCode? {
        switch self {
        case .storage(let failure), .outcomeUnknown(_, let failure), .latched(let failure):
            if case .diskFull = failure.reason {
                HTTPStatusCode(507, phrase: "Insufficient Storage")
            } else {
                .internalServerError
            }
        case .damaged, .locked, .closed: .internalServerError
        default: nil
        }
    }
}

extension HTTPHeaders {
    /// The headers of all answers: nothing is kept, and a page runs only what this server sends.
    fileprivate static let safe: HTTPHeaders = [
        .cacheControl: "no-store",
        HTTPHeader("Content-Security-Policy"): """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
        img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """,
        HTTPHeader("X-Content-Type-Options"): "nosniff",
        HTTPHeader("Referrer-Policy"): "no-referrer",
        HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
    ]

    fileprivate func adding(_ header: HTTPHeader, _ value: String) -> HTTPHeaders {
        var headers = self
        headers[header] = value
        return headers
    }
}

extension HTTPResponse {
    fileprivate static func content(_ bytes: [UInt8], _ type: String) -> HTTPResponse {
        HTTPResponse(
            statusCode: .ok, headers: .safe.adding(.contentType, type), body: Data(bytes))
    }

    /// - Parameter isLast: whether the connection ends after the answer.
    fileprivate static func json(
        _ value: some Encodable, _ status: HTTPStatusCode = .ok, isLast: Bool = false
    ) -> HTTPResponse {
        let bytes = feed_web.json(value)
        return HTTPResponse(
            statusCode: status, headers: .safe.adding(.contentType, "application/json"),
            body: isLast
                ? HTTPBodySequence(from: LastBytes(bytes: bytes), count: bytes.count)
                : HTTPBodySequence(data: Data(bytes)))
    }
}
