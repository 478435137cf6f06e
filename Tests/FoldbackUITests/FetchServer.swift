import FoldbackUI
import Synchronization

/// A server that answers when the test says so, in any order.
final class FetchServer: Sendable {
    typealias Answer = Result<Int, RequestError>

    private struct Call {
        let report: FetchReport
        var isCanceled = false
        var answer: Answer?
        var waiting: CheckedContinuation<Answer, Never>?
    }

    private let calls = Mutex<[Call]>([])

    /// The calls so far. Calls count from 0 up.
    var count: Int { calls.withLock(\.count) }

    func isCanceled(_ call: Int) -> Bool { calls.withLock { $0[call].isCanceled } }

    /// The function of a fetch model.
    var fetch: @Sendable (FetchReport) async throws(RequestError) -> Int {
        { report async throws(RequestError) in try await self.answer(report).get() }
    }

    /// Like a bad server, it does not end when it is canceled.
    private func answer(_ report: FetchReport) async -> Answer {
        let number = calls.withLock { calls in
            calls.append(Call(report: report))
            return calls.count - 1
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = calls.withLock { calls in
                    if calls[number].answer == nil { calls[number].waiting = continuation }
                    return calls[number].answer
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            calls.withLock { $0[number].isCanceled = true }
        }
    }

    /// Returns when this many calls were made.
    func waitForCalls(_ count: Int) async {
        while self.count < count { await Task.yield() }
    }

    /// Answers a call, and waits for it if it was not made.
    func answer(_ call: Int, _ answer: Answer) async {
        await waitForCalls(call + 1)
        calls.withLock { calls in
            calls[call].answer = answer
            return calls[call].waiting.take()
        }?.resume(returning: answer)
    }

    /// Lets a call report.
    func report(_ call: Int, _ body: (FetchReport) -> Void) {
        body(calls.withLock { $0[call].report })
    }
}

extension RequestError: ExplainedError {
    var recovery: Recovery? { Recovery(reason: name) }
}
