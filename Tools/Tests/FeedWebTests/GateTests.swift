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

    private static func request() -> HTTPRequest {
        HTTPRequest(
            method: .POST, version: .http11, path: "/stage", query: [],
            headers: [
                .host: "127.0.0.1:8080", .contentType: "application/json; charset=utf-8",
                HTTPHeader("Origin"): "http://localhost:8080",
            ], body: Data("{}".utf8))
    }
}
