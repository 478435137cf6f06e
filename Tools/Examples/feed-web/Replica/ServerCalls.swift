import FoldbackSync
import FoldbackUI

/// What a device asks of the server beside its log: signing in, a chart, an upload. The stage decides
/// when they are answered.
struct ServerCalls: Sendable {
    let user: String
    let stage: Stage

    /// Sends a photo, and reports the part that has arrived.
    ///
    /// While the stage holds requests, it also decides how fast the photo arrives.
    func upload(_ text: String, _ report: FetchReport) async throws(ServerFailure) {
        let parts = 20
        try await requireOnline()
        for part in 1..<parts where await !stage.settings.isHolding {
            await stage.pass(.milliseconds(200), by: "\(user)/upload")
            if Task.isCancelled { return }
            try await requireOnline()
            report.fraction(Double(part) / Double(parts))
        }
        try await ask("upload", "Upload: \(text)", progress: { report.fraction($0) })
        report.fraction(1)
    }

    private func requireOnline() async throws(ServerFailure) {
        do throws(AuthorityFailure) { try await stage.requireOnline(user) } catch {
            throw .unreachable(reason: error.reason)
        }
    }

    /// Returns when the server has answered.
    ///
    /// - Parameters:
    ///   - wait: the name of the wait that the request has.
    ///   - progress: takes fractions while the stage holds the request.
    func ask(
        _ wait: String, _ text: String, progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(ServerFailure) {
        let request = StagedRequest(
            id: "\(user)/\(wait)", by: user, what: wait, text: text, wait: wait)
        let ruling: StageRuling
        do throws(AuthorityFailure) {
            ruling = try await stage.admit(request, progress: progress)
        } catch {
            throw .unreachable(reason: error.reason)
        }
        if case .reject(let reason) = ruling { throw .refused(reason: reason) }
    }
}

/// Why the server did not do what a device asked for.
enum ServerFailure: Error {
    case unreachable(reason: String)
    case refused(reason: String)
    /// Asking again does not help.
    case gone(reason: String)

    var words: String {
        switch self {
        case .unreachable: "The server cannot be reached."
        case .refused(let reason), .gone(let reason): reason
        }
    }
}

extension ServerFailure: ExplainedError {
    var recovery: Recovery? {
        switch self {
        case .unreachable, .refused: Recovery(reason: words)
        case .gone: Recovery(reason: words, canRestart: false)
        }
    }
}
