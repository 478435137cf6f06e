import Foldback
import Foundation
import Processes
import Testing

/// Born from the question who else on this machine, or on the web, can read a log while somebody
/// inspects it.
@Suite(.serialized) struct InspectorAccessTests {
    private let directory = DiskDirectory()

    private func inspector() throws -> InspectorProcess {
        try ReplayStory.makeLog(directory.log)
        return try InspectorProcess([directory.log.path])
    }

    private static let paths = [
        "/", "/api/head", "/api/changes?after=0", "/api/rows", "/api/place?sequence=1",
        "/api/intents?numbers=1",
        "/api/frames?from=1", "/api/at?sequence=1", "/api/why?place=/post", "/api/story?intent=1",
        "/api/verify", "/api/plot?of=pending", "/api/branch?id=1&sequence=1",
        "/api/first-break?expect=x", "/api/rerun", "/api/export?as=ndjson", "/nothing",
    ]

    @Test func `only the printed address sets the cookie, and only with the right token`() throws {
        let inspector = try inspector()
        let opened = try inspector.send("/?token=\(inspector.token)", cookie: "none=none")
        #expect(opened.status == 303)
        #expect(opened.header("Location") == "/")
        #expect(
            opened.header("Set-Cookie")
                == "\(inspector.cookie); Path=/; HttpOnly; SameSite=Strict")
        for path in ["/", "/?token=", "/?token=0", "/?token=\(inspector.token)0"] {
            let refused = try inspector.send(path, cookie: "none=none")
            #expect(refused.status == 401 && refused.header("Set-Cookie") == nil, "\(refused)")
        }
        #expect(try inspector.send("/").status == 200)
        #expect(try inspector.send("/").header("Content-Type") == "text/html; charset=utf-8")
    }

    @Test func `every request needs the cookie, also one with the token in its address`() throws {
        let inspector = try inspector()
        let (port, token) = (inspector.port, inspector.token)
        let wrong = String(token.reversed())
        for path in Self.paths {
            for cookie in [
                "none=none", "foldback-\(port)=", "foldback-\(port)=\(wrong)",
                "foldback-\(port)=\(token)0", "foldback-\(port + 1)=\(token)",
            ] {
                let refused = try inspector.send(path, cookie: cookie)
                #expect(refused.status == 401, "\(path) with \(cookie): \(refused)")
            }
        }
        let split = path(of: token)
        #expect(try inspector.send("/api/head?\(split)", cookie: "none=none").status == 401)
        #expect(
            try inspector.send(
                "/api/what-if", ["-H", "Content-Type: application/json", "-d", "{}"],
                cookie: "none=none"
            ).status == 401)
        let among = "a=b; foldback-\(port)=\(token); c=d"
        #expect(try inspector.send("/api/head", cookie: among).status == 200)
    }

    private func path(of token: String) -> String { "token=\(token)" }

    @Test func `another host, origin or site is refused`() throws {
        let inspector = try inspector()
        let port = inspector.port
        for host in ["evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:1", ""] {
            let refused = try inspector.send("/api/head", ["-H", "Host:\(host)"])
            #expect(refused.status == 403, "\(host): \(refused)")
            let opened = try inspector.send("/?token=\(inspector.token)", ["-H", "Host:\(host)"])
            #expect(opened.status == 403 && opened.header("Set-Cookie") == nil, "\(host)")
        }
        #expect(try inspector.send("/api/head", ["-H", "Host: localhost:\(port)"]).status == 200)
        for origin in ["http://evil.example", "null", "https://127.0.0.1:\(port)"] {
            let refused = try inspector.send("/api/head", ["-H", "Origin: \(origin)"])
            #expect(refused.status == 403, "\(origin): \(refused)")
        }
        let own = ["-H", "Origin: http://127.0.0.1:\(port)"]
        #expect(try inspector.send("/api/head", own).status == 200)
        for site in ["cross-site", "same-site"] {
            let refused = try inspector.send("/api/head", ["-H", "Sec-Fetch-Site: \(site)"])
            #expect(refused.status == 403, "\(site): \(refused)")
        }
        let site = ["-H", "Sec-Fetch-Site: same-origin"]
        #expect(try inspector.send("/api/head", site).status == 200)
    }

    @Test func `no answer has a CORS header, and every answer has the safe headers`() throws {
        let inspector = try inspector()
        var answers: [InspectorProcess.Answer] = []
        for path in Self.paths where path != "/api/changes?after=0" {
            answers.append(try inspector.send(path))
            answers.append(try inspector.send(path, cookie: "none=none"))
            answers.append(try inspector.send(path, ["-H", "Origin: http://evil.example"]))
            answers.append(
                try inspector.send(
                    path,
                    [
                        "-X", "OPTIONS", "-H", "Origin: http://evil.example", "-H",
                        "Access-Control-Request-Method: POST",
                    ]))
        }
        answers.append(try inspector.send("/?token=\(inspector.token)"))
        answers.append(try inspector.post("/api/what-if", "{}"))
        for answer in answers {
            #expect(
                !answer.headers.contains { $0.lowercased().hasPrefix("access-control") },
                "\(answer)")
            #expect(answer.header("Cache-Control") == "no-store", "\(answer)")
            #expect(answer.header("X-Content-Type-Options") == "nosniff", "\(answer)")
            #expect(answer.header("Referrer-Policy") == "no-referrer", "\(answer)")
            #expect(answer.header("Cross-Origin-Resource-Policy") == "same-origin", "\(answer)")
            let policy = answer.header("Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'"), "\(answer)")
            #expect(policy.contains("frame-ancestors 'none'"), "\(answer)")
        }
    }

    @Test func `only GET and POST with JSON are taken`() throws {
        let inspector = try inspector()
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            let refused = try inspector.send("/api/head", ["-X", method])
            #expect(refused.status == 405, "\(method): \(refused)")
        }
        #expect(try inspector.send("/api/head", ["-I"]).status == 405)
        // FlyingFox itself refuses methods that it does not know.
        let unknown = try inspector.send("/api/head", ["-X", "BREW"])
        #expect(unknown.status == 404 && unknown.body.isEmpty, "\(unknown)")
        let edit = #"{"edits":[{"drop":3}]}"#
        for type in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let refused = try inspector.send(
                "/api/what-if", ["-H", "Content-Type:\(type)", "-d", edit])
            #expect(refused.status == 415, "\(type): \(refused)")
        }
        for body in ["", "{", "[]", "null", "\u{FF}"] {
            let refused = try inspector.post("/api/what-if", body)
            #expect(refused.status == 400 && refused.json["error"] != nil, "\(body): \(refused)")
        }
        #expect(try inspector.post("/api/what-if", edit).status == 200)
        #expect(try inspector.send("/api/what-if").status == 404)
        #expect(try inspector.post("/api/head", "{}").status == 404)
    }

    @Test func `a large body is refused, and the server goes on`() throws {
        let inspector = try inspector()
        let file = directory.url.appending(path: "body.json")
        for bytes in [(1 << 20) + 1, 5 << 20] {
            try Data(repeating: UInt8(ascii: " "), count: bytes).write(to: file)
            let refused = try inspector.send(
                "/api/what-if",
                ["-H", "Content-Type: application/json", "--data-binary", "@\(file.path)"])
            #expect(refused.status == 413, "\(bytes): \(refused)")
            #expect(try inspector.send("/api/head").status == 200)
        }
    }

    @Test func `other paths lead nowhere`() throws {
        let inspector = try inspector()
        for path in [
            "/../../../../etc/passwd", "/api/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
            "/api/%2e%2e/api/head", "//api/head", "/api/head/", "/API/head", "/api", "/data.mdb",
            "/api/head%00", "/favicon.ico", "/..",
        ] {
            let refused = try inspector.send(path)
            #expect(refused.status == 404 && refused.json["error"] != nil, "\(path): \(refused)")
        }
        for query in ["projection=Nothing", "projection=%FF", "count=x", "count=501", "kind=x"] {
            let refused = try inspector.send("/api/rows?\(query)")
            #expect(refused.status == 400 && refused.json["error"] != nil, "\(query): \(refused)")
        }
    }

    @Test func `the server listens only on 127.0.0.1, and tells if the port is taken`() throws {
        let inspector = try inspector()
        let port = String(inspector.port, radix: 16, uppercase: true)
        let digits = String(repeating: "0", count: 4 - port.count) + port
        let sockets =
            try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            + ((try? String(contentsOfFile: "/proc/net/tcp6", encoding: .utf8)) ?? "")
        let listening = sockets.split(separator: "\n").compactMap { line -> Substring? in
            let parts = line.split(separator: " ")
            // State 0A is LISTEN (proc_pid_net(5)).
            guard parts.count > 3, parts[3] == "0A", parts[1].hasSuffix(":\(digits)") else {
                return nil
            }
            return parts[1]
        }
        #expect(listening == ["0100007F:\(digits)"])
        let taken = try run([
            executable("foldback"), "inspect", directory.log.path, "--port",
            "\(inspector.port)",
        ])
        #expect(taken.status == 3 && taken.output.isEmpty, "\(taken)")
        #expect(taken.errors.contains("port \(inspector.port)"), "\(taken)")
        #expect(taken.errors.contains("Address already in use"), "\(taken)")
        #expect(taken.errors.split(separator: "\n").count == 1, "\(taken)")
    }
}
