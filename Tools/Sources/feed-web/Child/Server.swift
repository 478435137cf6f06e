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
        } catch let error as CommandError {
            return .refusal(HTTPStatusCode(error.status), error.reason)
        } catch let error as Refusal {
            return .refusal(error.status, error.reason)
        } catch let error as FoldbackError {
            return .refusal(HTTPStatusCode(.conflict), error.errorDescription ?? "\(error)")
        } catch {
            return .refusal(.internalServerError, "\(error)")
        }
    }

    private func response(to request: HTTPRequest, _ body: Data) async throws -> HTTPResponse {
        let path = request.path.split(separator: "/").map(String.init)
        switch (request.method.rawValue, path.first, path.dropFirst().last, path.count) {
        case ("GET", nil, nil, 0): return try await page(request)
        case ("GET", "feed.css", nil, 1):
            return .content(PackageResources.feed_css, "text/css; charset=utf-8")
        case ("GET", "feed.js", nil, 1):
            return .content(PackageResources.feed_js, "text/javascript; charset=utf-8")
        case ("GET", "stage.js", nil, 1):
            return .content(PackageResources.stage_js, "text/javascript; charset=utf-8")
        case ("GET", "r", "events", 3): return try await events(path[1], request)
        case ("GET", "r", "state", 3): return try await state(path[1], request)
        case ("GET", "stage", nil, 1): return .json(await world.stageView.shown)
        case ("POST", "r", "do", 3): return try await perform(path[1], request, try fields(body))
        case ("POST", "stage", nil, 1):
            try await world.perform(try StageCommand(try fields(body)))
            return .json(await world.stageView.shown)
        case ("GET", _, _, _), ("POST", _, _, _):
            throw CommandError(status: .unknown, "there is no \(request.path)")
        default:
            throw Refusal(.methodNotAllowed, "\(request.method.rawValue) is not used here")
        }
    }

    private func page(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let name = request.query["replica"] else {
            return HTTPResponse(
                statusCode: .found,
                headers: .safe.adding(.location, "/?replica=\(world.names.first ?? "")"))
        }
        _ = try await world.screen(name)
        return .content(PackageResources.feed_html, "text/html; charset=utf-8")
    }

    private func events(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
        let publisher = try await world.screen(name).appear(PageQuery(request.query))
        let stream = EventStream(
            hub: publisher.hub,
            lastID: request.headers[.lastEventID] ?? request.query["after"])
        return HTTPResponse(
            statusCode: .ok, headers: .safe.adding(.contentType, "text/event-stream"),
            body: HTTPBodySequence(from: stream))
    }

    private func state(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
        let publisher = try await world.screen(name).appear(PageQuery(request.query))
        return .json(await publisher.hub.state)
    }

    private func perform(
        _ name: String, _ request: HTTPRequest, _ fields: CommandFields
    ) async throws -> HTTPResponse {
        let screen = try await world.screen(name)
        let publisher = try await screen.appear(PageQuery(request.query))
        let number = try await screen.perform(try ReplicaCommand(fields), from: fields.from)
        await world.settle()
        return .json(Done(number: number?.value, revision: await publisher.hub.revision))
    }

    private struct Done: Encodable {
        /// The number of the intent; absent if none was recorded.
        let number: UInt64?
        /// The revision that shows it, or an earlier message does.
        let revision: String
    }

    private func fields(_ body: Data) throws(CommandError) -> CommandFields {
        do { return try JSONDecoder().decode(CommandFields.self, from: body) } catch {
            throw CommandError(
                status: .malformed, "the body must be a JSON object with \"do\": \(error)")
        }
    }
}

extension HTTPHeader {
    fileprivate static let lastEventID = HTTPHeader("Last-Event-ID")
}

extension PageQuery {
    fileprivate init(_ query: [HTTPRequest.QueryItem]) {
        self.init(
            isArchive: query["scene"] == "archive", isUnhurried: query["policy"] == "unhurried")
    }
}

extension HTTPStatusCode {
    fileprivate init(_ status: CommandError.Status) {
        switch status {
        case .malformed: self = .badRequest
        case .unknown: self = .notFound
        // A browser reports other codes as errors of the page.
        case .conflict: self = .ok
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

    fileprivate static func json(_ value: some Encodable) -> HTTPResponse {
        content(feed_web.json(value), "application/json")
    }

    fileprivate static func refusal(_ status: HTTPStatusCode, _ reason: String) -> HTTPResponse {
        HTTPResponse(
            statusCode: status, headers: .safe.adding(.contentType, "application/json"),
            body: Data(feed_web.json(["error": reason])))
    }
}
