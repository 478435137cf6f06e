import FaultyNetwork
import FoldbackHTTP
import FoldbackSync
import Foundation
import Testing

/// Question: does a call of the client end, whatever the server does?
@Suite struct TransportTests {
    private let transport = URLSessionTransport()

    /// A server that does with each connection what a test says.
    private final class Peer: Sendable {
        let url: URL
        private let listener: Int32

        init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
            let (listener, port) = try Sockets.listen()
            self.listener = listener
            url = URL(string: "http://127.0.0.1:\(port)/")!
            Thread.detachNewThread {
                while case let client = accept(listener, nil, nil), client >= 0 {
                    Thread.detachNewThread {
                        var buffer = [UInt8](repeating: 0, count: 1 << 16)
                        _ = recv(client, &buffer, buffer.count, 0)
                        serve(client)
                        close(client)
                    }
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
    }

    private static func send(_ text: String, to client: Int32) -> Bool {
        Sockets.send(Array(text.utf8)[...], to: client)
    }

    private func request(_ peer: Peer, limit: Duration = .seconds(20)) -> ClientRequest {
        ClientRequest(method: "GET", url: peer.url, limit: limit, answerBytesMax: 1 << 20)
    }

    private func failure(_ request: ClientRequest) async -> AuthorityFailure? {
        do throws(AuthorityFailure) {
            _ = try await transport.send(request)
            return nil
        } catch { return error }
    }

    /// Waits until the client hangs up.
    private static func wait(for client: Int32) {
        var byte: UInt8 = 0
        while recv(client, &byte, 1, 0) > 0 {}
    }

    @Test func `a silent server ends a call at its limit`() async throws {
        let peer = try Peer { Self.wait(for: $0) }
        let start = ContinuousClock.now
        let failure = await failure(request(peer, limit: .milliseconds(300)))
        #expect(failure == .unreachable(reason: "there was no answer within 0.3 seconds"))
        #expect(start.duration(to: .now) < .seconds(5))
    }

    @Test func `a canceled call ends at once`() async throws {
        let peer = try Peer { Self.wait(for: $0) }
        let start = ContinuousClock.now
        let call = Task { await failure(request(peer)) }
        try await Task.sleep(for: .milliseconds(100))
        call.cancel()
        #expect(await call.value == .unreachable(reason: "the call was canceled"))
        #expect(start.duration(to: .now) < .seconds(5))
    }

    @Test func `a redirect is an answer, and is not followed`() async throws {
        let target = try Peer { _ in Issue.record("the redirect was followed") }
        let address = target.url.absoluteString
        let peer = try Peer {
            _ = Self.send(
                "HTTP/1.1 302 Found\r\nLocation: \(address)\r\nContent-Length: 0\r\n\r\n",
                to: $0)
            Self.wait(for: $0)
        }
        let answer = try await transport.send(request(peer))
        #expect(answer.status == 302)
        #expect(answer.headers["location"] == address)
    }

    @Test func `an endless answer ends at its bound`() async throws {
        let peer = try Peer { client in
            guard Self.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", to: client)
            else { return }
            let part = String(repeating: "x", count: 1 << 16)
            // Foundation on Linux serves nobody else while a server on the same machine sends without a
            // pause.
            for _ in 0..<20_000 {
                guard Self.send(part, to: client) else { return }
                usleep(500)
            }
        }
        let start = ContinuousClock.now
        guard case .invalidAnswer = await failure(request(peer)) else {
            Issue.record("there was an answer")
            return
        }
        #expect(start.duration(to: .now) < .seconds(5))
    }

    @Test func `a connection that ends after the request is a failure of the request`()
        async throws
    {
        let peer = try Peer { _ in }
        guard case .failed = await failure(request(peer)) else {
            Issue.record("it is not a failure")
            return
        }
    }

    @Test func `a server that is not there was not reached`() async throws {
        let url = try Peer { _ in }.url
        let failure = await failure(
            ClientRequest(method: "GET", url: url, limit: .seconds(20), answerBytesMax: 1 << 20))
        guard case .unreachable = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
