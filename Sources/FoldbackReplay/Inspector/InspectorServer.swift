#if ReplayTool
    import ArgumentParser
    import FlyingFox
    import Foldback
    import FoldbackHistory

    /// The routes of the inspector.
    struct InspectorServer: HTTPHandler {
        let access: InspectorAccess
        let answers: InspectorAnswers
        let page: (html: [UInt8], contentSecurityPolicy: String)

        func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
            do {
                // Nobody else can make the server read a body.
                let redirection = try redirection(for: request)
                let body = try await request.bytesOfBody()
                if let redirection { return redirection }
                return try await response(to: request, body)
            } catch let error as Refusal {
                return error.endsConnection || !request.isBodyDrained
                    ? .lastRefusal(error.status, error.reason)
                    : .refusal(error.status, error.reason)
            } catch let error as InspectorError {
                switch error {
                case .wrongUse(let reason): return .refusal(.badRequest, reason)
                case .unknown(let reason): return .refusal(.notFound, reason)
                case .busy:
                    return .refusal(
                        .serviceUnavailable, "too many computations are running; try again later")
                }
            } catch let error as ValidationError {
                return .refusal(.badRequest, error.message)
            } catch {
                guard let failure = LogFailure(error) else {
                    return .refusal(.internalServerError, "\(error)")
                }
                answers.log.note(error)
                return .refusal(failure.inspectorStatus, failure.description)
            }
        }

        /// Checks who sent the request.
        ///
        /// - Returns: the answer to a request with the token.
        private func redirection(for request: HTTPRequest) throws -> HTTPResponse? {
            try access.check(request)
            if request.method == .GET, request.target.path() == "/",
                let query = try? InspectorQuery(request.target.query()),
                let token = query["token"], access.isToken(token)
            {
                access.opens()
                let isFromElsewhere = request.headers[HTTPHeader("Sec-Fetch-Site")] == "cross-site"
                return .redirection(
                    to: "/", settingCookie: access.cookie, byPage: isFromElsewhere)
            }
            try access.requireAdmitted(request)
            return nil
        }

        private func response(to request: HTTPRequest, _ body: [UInt8]) async throws -> HTTPResponse
        {
            // The path is compared as the client wrote it, so `..` and escapes lead nowhere.
            let path = request.target.path()
            let query = try InspectorQuery(request.target.query())
            switch (request.method, path) {
            case (.GET, "/"): return .page(page.html, policy: page.contentSecurityPolicy)
            case (.GET, _): return .json(try await answers.answer(to: path, query))
            case (.POST, _):
                guard let json = try? JSON(parsing: body), json.objectValue != nil else {
                    throw ValidationError("the body must be a JSON object")
                }
                return .json(try await answers.answer(toPost: path, json))
            default: throw InspectorError.unknown("there is no \(path)")
            }
        }
    }

    extension LogFailure {
        /// 400 for a wrong request, 500 if the log or its disk failed, 409 if this log cannot
        /// answer this question.
        fileprivate var inspectorStatus: HTTPStatusCode {
            guard !isWrongUse else { return .badRequest }
            switch logError {
            case .storage, .outcomeUnknown, .latched, .damaged, .closed, .missing, .notALog,
                .unsafeFile:
                return .internalServerError
            default: return .conflict
            }
        }
    }
#endif
