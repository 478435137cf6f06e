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
        ("Host", "evil.example:8080", 403), ("Host", "127.0.0.1:9090", 403), ("Host", nil, 403),
        ("Origin", "http://evil.example", 403), ("Origin", "null", 403),
        ("Origin", "https://127.0.0.1:8080", 403),
        ("Sec-Fetch-Site", "cross-site", 403), ("Sec-Fetch-Site", "same-site", 403),
        ("Content-Type", "text/plain", 415), ("Content-Type", "application/jsonx", 415),
        ("Content-Type", nil, 415),
    ])
    func `a request of another page is refused`(
        _ header: String, _ value: String?, _ status: Int
    ) async {
        var request = Self.request()
        request.headers[HTTPHeader(header)] = value
        let refusal = await #expect(throws: Refusal.self) { try await Self.gate.body(of: request) }
        #expect(refusal?.status.code == status)
    }

    @Test func `a body of 65,536 bytes is read, and a longer body is refused`() async throws {
        var request = Self.request()
        request.setBodyData(Data(count: 65_536))
        #expect(try await Self.gate.body(of: request).count == 65_536)
        request.setBodyData(Data(count: 65_537))
        let refusal = await #expect(throws: Refusal.self) { try await Self.gate.body(of: request) }
        #expect(refusal?.status == .payloadTooLarge && refusal?.endsConnection == false)
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
