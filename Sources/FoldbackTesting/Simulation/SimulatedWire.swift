import Foldback
import FoldbackSync
import Synchronization

/// What is between a replica and its authority. Requests and answers are on their way here whatever
/// becomes of who sent them.
final class SimulatedWire<P: Projection>: Sendable {
    /// A call of an authority's, and what the wire may make of it.
    struct Call<R: Sendable>: Sendable {
        let carryOut: @Sendable () async throws(AuthorityFailure) -> R
        /// What remains of an answer that tells of so much only; nil where that is all of it.
        let cut: @Sendable (R, Int) -> R?
        /// The answer that puts everything off.
        let putOff: @Sendable (Duration?) -> Result<R, AuthorityFailure>
        /// Brings an answer in another way than as one.
        let deliverLate: @Sendable (R) async -> Void
    }

    /// One call's way.
    private struct Passage {
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
        /// The latest that has arrived, and that was answered.
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

    /// All goes well from now on, but for what is on its way.
    func heal() {
        content.withLock { content in
            content.armed = []
            content.downUntil = nil
        }
    }

    /// Nothing is on its way.
    var isQuiet: Bool { content.withLock { $0.inTransit == 0 } }

    private var isDown: Bool {
        let now = time.now
        return content.withLock { $0.downUntil.map { now < $0 } ?? false }
    }

    // MARK: Calls

    func perform<R>(_ call: Call<R>) async throws(AuthorityFailure) -> R {
        let passage = passage()
        guard !isDown else {
            notes.fired(.partition)
            throw failure("the link is down")
        }
        let reply = Reply<R>()
        content.withLock { $0.inTransit += 1 }
        _ = Task(executorPreference: time) {
            await self.transit(call, passage, reply)
            self.content.withLock { $0.inTransit -= 1 }
        }
        return try await reply.value()
    }

    private func passage() -> Passage {
        let fault = content.withLock { content in
            content.sent += 1
            return content.armed.isEmpty ? nil : content.armed.removeFirst()
        }
        var more = Duration.zero
        if case .slow(let duration) = fault { more = duration }
        func leg() -> Duration {
            latencyMax == .zero ? more : more + latencyMax * time.sources.jitter()
        }
        return Passage(
            number: content.withLock { $0.sent }, fault: fault, there: leg(), back: leg())
    }

    private func transit<R>(
        _ call: Call<R>, _ passage: Passage, _ reply: Reply<R>
    ) async {
        if passage.there > .zero {
            notes.fired(.latency)
            await time.sleep(passage.there)
        }
        guard passage.fault != .lostRequest, !isDown, let process = server.running else {
            return reply.resolve(.failure(lost(request: passage)))
        }
        noteOrder(passage, \.arrived)
        let result = await carriedOut(call, passage)
        if case .lateAnswer(let delay) = passage.fault {
            notes.fired(.lateAnswer)
            reply.resolve(.failure(failure("no answer came in time")))
            await time.sleep(delay)
            if case .success(let answer) = result {
                notes.trace(name, "an answer that was given up comes")
                notes.count()
                await call.deliverLate(answer)
            }
            return
        }
        if passage.back > .zero { await time.sleep(passage.back) }
        guard passage.fault != .lostAnswer, !isDown, server.running == process else {
            return reply.resolve(.failure(lost(answerTo: passage, process)))
        }
        noteOrder(passage, \.answered)
        notes.count()
        reply.resolve(result)
    }

    /// What the authority makes of a call that has arrived.
    private func carriedOut<R>(
        _ call: Call<R>, _ passage: Passage
    ) async -> Result<R, AuthorityFailure> {
        do throws(AuthorityFailure) {
            switch passage.fault {
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
            case .lostRequest, .lostAnswer, .lateAnswer, .slow, nil:
                return .success(try await call.carryOut())
            }
        } catch {
            return .failure(error)
        }
    }

    private func noteOrder(_ passage: Passage, _ latest: WritableKeyPath<Content, Int>) {
        let isOvertaken = content.withLock { content in
            defer { content[keyPath: latest] = max(content[keyPath: latest], passage.number) }
            return passage.number < content[keyPath: latest]
        }
        if isOvertaken { notes.fired(.reordering) }
    }

    private func lost(request passage: Passage) -> AuthorityFailure {
        notes.fired(
            passage.fault == .lostRequest ? .lostRequest : isDown ? .partition : .authorityCrash)
        return failure("the request was lost")
    }

    private func lost(answerTo passage: Passage, _ process: Int) -> AuthorityFailure {
        notes.fired(
            server.running != process ? .authorityCrash : isDown ? .partition : .lostAnswer)
        return failure("the answer was lost")
    }

    private func failure(_ reason: String) -> AuthorityFailure {
        notes.trace(name, reason)
        return .unreachable(reason: reason)
    }
}

/// What comes back to who waits for it, if it still does.
private final class Reply<R: Sendable>: Sendable {
    typealias Answer = Result<R, AuthorityFailure>

    private enum State {
        case open
        case awaited(UnsafeContinuation<Answer, Never>)
        case done(Answer)
    }

    private let state = Mutex(State.open)

    /// The first one holds.
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
