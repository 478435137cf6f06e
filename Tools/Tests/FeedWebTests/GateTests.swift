import FlyingFox
import Foundation
import Testing

@testable import feed_web

/// These tests ask whether another web page can use the server. The server listens only on this
/// computer, but so does the browser with all its pages.
@Suite struct GateTests {
    private static let gate = Gate(port: 8080)

    @Test func `a request of the own page is read`() async throws {
        let body = try await Self.gate.body(of: Self.request())
        #expect(body == Data("{}".utf8))
    }

    @Test(arguments: [
        ("Host", "evil.example:8080"), ("Host", "127.0.0.1:9090"),
        ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "https://127.0.0.1:8080"),
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ("Content-Type", "text/plain"), ("Content-Type", "application/jsonx"),
    ])
    func `a request of another page is refused`(_ header: String, _ value: String) async {
        var request = Self.request()
        request.headers[HTTPHeader(header)] = value
        await #expect(throws: Refusal.self) { try await Self.gate.body(of: request) }
    }

    @Test func `a request without a host or a type is refused`() async {
        for header in ["Host", "Content-Type"] {
            var request = Self.request()
            request.headers[HTTPHeader(header)] = nil
            await #expect(throws: Refusal.self) { try await Self.gate.body(of: request) }
        }
    }

    @Test func `a body of 65,536 bytes is read, and a longer body is refused`() async throws {
        for (count, isRead) in [(65_536, true), (65_537, false)] {
            var request = Self.request()
            request.setBodyData(Data(count: count))
            let body = try? await Self.gate.body(of: request)
            #expect(body?.count == (isRead ? count : nil))
        }
    }

    @Test func `a long body is not read to its end, and ends the connection`() async throws {
        var request = Self.request()
        request.setBodyData(Data(count: Gate.bytesReadMax + 1))
        let refusal = await #expect(throws: Refusal.self) { try await Self.gate.body(of: request) }
        #expect(refusal?.status == .payloadTooLarge && refusal?.endsConnection == true)
    }

    @Test func `a link of another site leads to the page, and nothing else is sent there`() async {
        for (path, isRead) in [("/", true), ("/r/mia/state", false), ("/stage", false)] {
            var request = Self.request(.GET, path)
            request.headers[HTTPHeader("Sec-Fetch-Site")] = "cross-site"
            request.headers[HTTPHeader("Origin")] = nil
            let body = try? await Self.gate.body(of: request)
            #expect((body != nil) == isRead, "\(path)")
        }
    }

    @Test func `the default port may be left out`() async throws {
        for port in [UInt16(80), 8080] {
            var request = Self.request()
            request.headers[.host] = "localhost"
            request.headers[HTTPHeader("Origin")] = "http://localhost"
            let body = try? await Gate(port: port).body(of: request)
            #expect((body != nil) == (port == 80))
        }
    }

    private static func request(
        _ method: HTTPMethod = .POST, _ path: String = "/stage"
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, version: .http11, path: path, query: [],
            headers: [
                .host: "127.0.0.1:8080", .contentType: "application/json; charset=utf-8",
                HTTPHeader("Origin"): "http://localhost:8080",
            ], body: Data("{}".utf8))
    }
}
