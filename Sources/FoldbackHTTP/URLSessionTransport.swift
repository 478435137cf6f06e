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
/// > the header of an answer (swift-corelibs-foundation, issue 5285). It also uses half a processor or more
/// > while a request with a body waits for its answer.
public final class URLSessionTransport: HTTPTransport {
    /// The transport of all clients that name no other one. Connections are kept for the next request.
    public static let shared = URLSessionTransport()

    private let session: URLSession
    private let receiver = Receiver()
    /// Calls of the session. On Linux they block while a server sends as fast as it can, and a caller must
    /// not wait for that.
    private let queue = DispatchQueue(label: "FoldbackHTTP")

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
        let call = Call(bytesMax: request.answerBytesMax)
        queue.async { [self] in begin(call, Self.message(of: request)) }
        return try await call.outcome.value(within: request.limit) { [queue] in
            queue.async { call.stop() }
        }
    }

    private static func message(of request: ClientRequest) -> URLRequest {
        var message = URLRequest(url: request.url)
        message.httpMethod = request.method
        message.timeoutInterval = (request.limit + .seconds(5)) / .seconds(1)
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        if request.method != "GET" { message.httpBody = Data(request.body) }
        return message
    }

    private func begin(_ call: Call, _ message: URLRequest) {
        guard !call.outcome.hasEnded else { return }
        let task = session.dataTask(with: message)
        call.start(task)
        receiver.begin(call, of: task)
        task.resume()
    }
}

/// A request on its way.
private final class Call: Sendable {
    let outcome = Outcome<ClientResponse>()
    private let bytesMax: Int
    private let body = Mutex<[UInt8]>([])
    private let task = Mutex<URLSessionTask?>(nil)

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    func start(_ task: URLSessionTask) { self.task.withLock { $0 = task } }
    func stop() { task.withLock { $0 }?.cancel() }

    /// Keeps a part of the body. Returns false if it is not needed, or too much.
    func receive(_ data: Data) -> Bool {
        guard !outcome.hasEnded else { return false }
        let fits = body.withLock { body in
            guard body.count + data.count <= bytesMax else { return false }
            body += data
            return true
        }
        if !fits {
            outcome.end(
                .failure(.invalidAnswer(reason: "the answer has more than \(bytesMax) bytes")))
        }
        return fits
    }

    func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error { return outcome.end(.failure(AuthorityFailure(error))) }
        guard let response = task.response as? HTTPURLResponse else {
            return outcome.end(.failure(.failed(reason: "the answer is not one of HTTP")))
        }
        complete(response)
    }

    func complete(_ response: HTTPURLResponse) {
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields {
            headers[name] = value
        }
        outcome.end(
            .success(
                ClientResponse(
                    status: response.statusCode, headers: headers, body: body.withLock { $0 })))
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

    /// A redirect is an answer, and is not followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        calls.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(response)
        // On Linux, the handler ends the process if the task was canceled meanwhile.
        task.cancel()
    }
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
