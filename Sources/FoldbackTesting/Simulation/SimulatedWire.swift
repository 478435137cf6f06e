import Foldback
import FoldbackSync
import Synchronization

/// The connection between a replica and its authority. It carries requests and answers even if the
/// sender's process ends.
final class SimulatedWire<P: Projection>: Sendable {
    /// A call of the authority, and how the wire can change it.
    struct Call<R: Sendable>: Sendable {
        /// Whether it waits for events that may never come.
        var isPoll = false
        let carryOut: @Sendable () async throws(AuthorityFailure) -> R
        /// The first part of an answer; nil if that is the whole answer.
        let cut: @Sendable (R, Int) -> R?
        /// The answer of a newer server; nil if it is the same.
        let newer: @Sendable (R) -> R?
        /// The answer that puts off every verdict.
        let putOff: @Sendable (Duration?) -> Result<R, AuthorityFailure>
        /// Delivers an answer after the timeout of its request.
        let deliverLate: @Sendable (R) async -> Void
    }

    /// The transit of one call.
    private struct Transit {
        let number: Int
        let fault: LinkFault?
        let there: Duration
        let back: Duration
    }

    private struct Content {
        var armed: [LinkFault] = []
        var downUntil: Timestamp?
        var sent = 0
        var inTransit = 0
        var pollsInTransit = 0
        /// The numbers of the latest arrived and the latest answered call.
        var arrived = 0
        var answered = 0
    }

    private let name: String
    private let server: SimulatedServer<P>
    private let latencyMax: Duration
    private let time: VirtualTime
    private let notes: FleetNotes
    private let content = Mutex(Content())

    init(
        _ name: String, to server: SimulatedServer<P>, latencyMax: Duration, _ time: VirtualTime,
        _ notes: FleetNotes
    ) {
        self.name = name
        self.server = server
        self.latencyMax = latencyMax
        self.time = time
        self.notes = notes
    }

    // MARK: Faults

    func arm(_ fault: LinkFault) { content.withLock { $0.armed.append(fault) } }

    func goDown(for duration: Duration) {
        let end = time.now.advanced(by: duration)
        content.withLock { $0.downUntil = end }
    }

    /// Ends all faults, except for calls that are on their way.
    func heal() {
        content.withLock { content in
            content.armed = []
            content.downUntil = nil
        }
    }

    /// Whether no call is on its way, except long polls.
    var isQuiet: Bool { content.withLock { $0.inTransit == 0 } }

    /// Whether no call is on its way.
    var isIdle: Bool { content.withLock { $0.inTransit + $0.pollsInTransit == 0 } }

    private var isDown: Bool {
        let now = time.now
        return content.withLock { $0.downUntil.map { now < $0 } ?? false }
    }

    // MARK: Calls

    func perform<R>(_ call: Call<R>) async throws(AuthorityFailure) -> R {
        let transit = newTransit()
        guard !isDown else {
            notes.fired(.partition)
            throw failure("the link is down")
        }
        let reply = Reply<R>()
        let count: WritableKeyPath<Content, Int> & Sendable =
            call.isPoll ? \.pollsInTransit : \.inTransit
        content.withLock { $0[keyPath: count] += 1 }
        _ = Task(executorPreference: time) {
            await self.carry(call, transit, reply)
            self.content.withLock { $0[keyPath: count] -= 1 }
        }
        return try await reply.value()
    }

    private func newTransit() -> Transit {
        let fault = content.withLock { content in
            content.sent += 1
            return content.armed.isEmpty ? nil : content.armed.removeFirst()
        }
        var delay = Duration.zero
        if case .slow(let duration) = fault { delay = duration }
        func leg() -> Duration {
            latencyMax == .zero ? delay : delay + latencyMax * time.sources.jitter()
        }
        return Transit(
            number: content.withLock { $0.sent }, fault: fault, there: leg(), back: leg())
    }

    private func carry<R>(
        _ call: Call<R>, _ transit: Transit, _ reply: Reply<R>
    ) async {
        if transit.there > .zero {
            notes.fired(.latency)
            await time.sleep(transit.there)
        }
        guard transit.fault != .lostRequest, !isDown, let process = server.running else {
            if call.isPoll { notes.fired(.lostPoll) }
            return reply.resolve(.failure(lost(request: transit)))
        }
        noteOrder(transit, \.arrived)
        let result = await carriedOut(call, transit)
        if case .lateAnswer(let delay) = transit.fault {
            notes.fired(.lateAnswer)
            reply.resolve(.failure(failure("no answer arrived in time")))
            await time.sleep(delay)
            if case .success(let answer) = result {
                notes.trace(name, "an answer arrives after its timeout")
                notes.count()
                await call.deliverLate(answer)
            }
            return
        }
        if transit.back > .zero { await time.sleep(transit.back) }
        guard transit.fault != .lostAnswer, !isDown, server.running == process else {
            if call.isPoll { notes.fired(.lostPoll) }
            return reply.resolve(.failure(lost(answerTo: transit, process)))
        }
        noteOrder(transit, \.answered)
        notes.count()
        reply.resolve(result)
    }

    /// The authority's answer to a call that has arrived.
    private func carriedOut<R>(
        _ call: Call<R>, _ transit: Transit
    ) async -> Result<R, AuthorityFailure> {
        if server.isFailing {
            notes.fired(.outage)
            return .failure(.failed(reason: "an outage on purpose"))
        }
        do throws(AuthorityFailure) {
            switch transit.fault {
            case .failure:
                notes.fired(.failure)
                _ = try await call.carryOut()
                return .failure(.failed(reason: "a failure on purpose"))
            case .unavailable(let after):
                notes.fired(.unavailable)
                return .failure(.unavailable(after: after, reason: "busy on purpose"))
            case .unauthenticated:
                notes.fired(.unauthenticated)
                return .failure(.unauthenticated(reason: "signed out on purpose"))
            case .later(let after):
                notes.fired(.later)
                return call.putOff(after)
            case .duplicate:
                notes.fired(.duplicate)
                _ = try await call.carryOut()
                return .success(try await call.carryOut())
            case .partial(let count):
                let answer = try await call.carryOut()
                guard let rest = call.cut(answer, count) else { return .success(answer) }
                notes.fired(.partialAnswer)
                return .success(rest)
            case .newer:
                let answer = try await call.carryOut()
                guard let newer = call.newer(answer) else { return .success(answer) }
                notes.fired(.newerAnswer)
                return .success(newer)
            case .lostRequest, .lostAnswer, .lateAnswer, .slow, nil:
                return .success(try await call.carryOut())
            }
        } catch {
            return .failure(error)
        }
    }

    private func noteOrder(_ transit: Transit, _ latest: WritableKeyPath<Content, Int>) {
        let isOvertaken = content.withLock { content in
            defer { content[keyPath: latest] = max(content[keyPath: latest], transit.number) }
            return transit.number < content[keyPath: latest]
        }
        if isOvertaken { notes.fired(.reordering) }
    }

    private func lost(request transit: Transit) -> AuthorityFailure {
        notes.fired(
            transit.fault == .lostRequest ? .lostRequest : isDown ? .partition : .authorityCrash)
        return failure("the request was lost")
    }

    private func lost(answerTo transit: Transit, _ process: Int) -> AuthorityFailure {
        notes.fired(
            server.running != process ? .authorityCrash : isDown ? .partition : .lostAnswer)
        return failure("the answer was lost")
    }

    private func failure(_ reason: String) -> AuthorityFailure {
        notes.trace(name, reason)
        return .unreachable(reason: reason)
    }
}

/// The answer to a waiting caller.
private final class Reply<R: Sendable>: Sendable {
    typealias Answer = Result<R, AuthorityFailure>

    private enum State {
        case open
        case awaited(UnsafeContinuation<Answer, Never>)
        case done(Answer)
    }

    private let state = Mutex(State.open)

    /// Sets the answer, if there is none yet.
    func resolve(_ answer: Answer) {
        let continuation = state.withLock { state -> UnsafeContinuation<Answer, Never>? in
            switch state {
            case .open:
                state = .done(answer)
                return nil
            case .awaited(let continuation):
                state = .done(answer)
                return continuation
            case .done: return nil
            }
        }
        continuation?.resume(returning: answer)
    }

    func value() async throws(AuthorityFailure) -> R {
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let answer = state.withLock { state -> Answer? in
                    if case .done(let answer) = state { return answer }
                    state = .awaited(continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            resolve(.failure(.unreachable(reason: "cancelled")))
        }
        return try answer.get()
    }
}
