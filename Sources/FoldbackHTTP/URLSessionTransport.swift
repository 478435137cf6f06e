import FoldbackSync
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries requests with Foundation's `URLSession`, without cookies, cache and redirects.
///
/// Time limits are its own: on Linux, `URLSession` may ignore those of a request. A call ends at its limit
/// also if the session does not.
///
/// > Warning: On Linux, Foundation of Swift 6.3 ends the process if a connection without TLS closes within
/// > the header of an answer (swift-corelibs-foundation, issue 5285).
public final class URLSessionTransport: HTTPTransport {
    /// The transport of all clients that name no other one. Connections are kept for the next request.
    public static let shared = URLSessionTransport()

    private let session: URLSession
    private let receiver = Receiver()

    /// - Parameter connectionsMax: the most connections to one server, from 1. Each long poll takes one.
    public init(connectionsMax: Int = 32) {
        precondition(connectionsMax >= 1, "connectionsMax must be at least 1: \(connectionsMax)")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connectionsMax
        session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    // The session holds its delegate until then.
    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse {
        var message = URLRequest(url: request.url)
        message.httpMethod = request.method
        message.timeoutInterval = (request.limit + .seconds(5)) / .seconds(1)
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        if request.method != "GET" { message.httpBody = Data(request.body) }
        let task = session.dataTask(with: message)
        let call = Call(bytesMax: request.answerBytesMax)
        receiver.begin(call, of: task)
        let limit = request.limit
        let deadline = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            call.end(.failure(.unreachable(reason: "there was no answer within \(limit)")))
            task.cancel()
        }
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.begin(continuation)
                task.resume()
            }
        } onCancel: {
            call.end(.failure(.unreachable(reason: "the call was canceled")))
            task.cancel()
        }.get()
    }
}

/// A request on its way. Its result is given once: by the session, the limit, or a cancellation.
private final class Call: Sendable {
    typealias Outcome = Result<ClientResponse, AuthorityFailure>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
        var body: [UInt8] = []
    }

    private let bytesMax: Int
    private let state = Mutex(State())

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    func end(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Outcome, Never>? }
            state.outcome = outcome
            state.body = []
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: outcome)
    }

    /// Keeps a part of the body. Returns false if that is too much.
    func receive(_ data: Data) -> Bool {
        let fits = state.withLock { state in
            guard state.outcome == nil, state.body.count + data.count <= bytesMax else {
                return false
            }
            state.body += data
            return true
        }
        if !fits {
            end(
                .failure(
                    .invalidAnswer(reason: "the answer has more than \(bytesMax) bytes")))
        }
        return fits
    }

    func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error { return end(.failure(AuthorityFailure(error))) }
        guard let response = task.response as? HTTPURLResponse else {
            return end(.failure(.failed(reason: "the answer is not one of HTTP")))
        }
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields {
            headers[name] = value
        }
        let body = state.withLock { $0.body }
        end(
            .success(
                ClientResponse(status: response.statusCode, headers: headers, body: body)))
    }
}

/// Takes what the session receives to the call that waits for it.
private final class Receiver: NSObject, URLSessionDataDelegate {
    private let calls = Mutex<[Int: Call]>([:])

    func begin(_ call: Call, of task: URLSessionTask) {
        calls.withLock { $0[task.taskIdentifier] = call }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        let call = calls.withLock { $0[dataTask.taskIdentifier] }
        if call?.receive(data) == false { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        calls.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(task, error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }
}

extension AuthorityFailure {
    /// The failure of a request without an answer. If the request may have reached the server, it may be
    /// the cause.
    fileprivate init(_ error: any Error) {
        let error = error as NSError
        let reason = error.localizedDescription
        guard error.domain == NSURLErrorDomain, !Self.beforeSending.contains(error.code) else {
            self = .unreachable(reason: reason)
            return
        }
        self = .failed(reason: "the connection ended: \(reason)")
    }

    private static let beforeSending: Set<Int> = [
        NSURLErrorBadURL, NSURLErrorUnsupportedURL, NSURLErrorCannotFindHost,
        NSURLErrorCannotConnectToHost, NSURLErrorDNSLookupFailed, NSURLErrorNotConnectedToInternet,
        NSURLErrorTimedOut, NSURLErrorCancelled, NSURLErrorSecureConnectionFailed,
        NSURLErrorServerCertificateHasBadDate, NSURLErrorServerCertificateUntrusted,
        NSURLErrorServerCertificateHasUnknownRoot, NSURLErrorServerCertificateNotYetValid,
        NSURLErrorClientCertificateRejected, NSURLErrorClientCertificateRequired,
        NSURLErrorInternationalRoamingOff, NSURLErrorCallIsActive, NSURLErrorDataNotAllowed,
    ]
}
