import Foldback

/// An authority with faults, for tests: each call can fail in one way, as on a bad network. Without
/// faults, it only forwards.
///
/// ```swift
/// let faulty = FaultyAuthority(authority) { call in plan.next(for: call) }
/// ```
public struct FaultyAuthority<Event: Sendable>: Authority {
    /// A fault of one call.
    public enum Fault: Hashable, Sendable {
        /// The call never arrives.
        case lostBefore
        /// The call arrives and is carried out. The answer is lost.
        case lostAfter
        /// The call arrives twice and is carried out twice. The second answer returns.
        case duplicated
        /// The call is carried out, but the answer has verdicts only for the first `answered`
        /// intents. Calls of `changes` succeed.
        case partial(answered: Int)
        /// The call is not carried out, and each intent gets ``Verdict/later(after:reason:)``.
        /// Calls of `changes` fail as with ``unavailable(after:)``.
        case later(after: Duration?)
        case unavailable(after: Duration?)
        case unauthenticated
        /// The call arrives, and the server fails on it.
        case failed
    }

    /// A call that can get a fault.
    public enum Call: Hashable, Sendable {
        case submit([IntentID])
        case changes(after: Position)
    }

    private let base: any Authority<Event>
    private let fault: @Sendable (Call) -> Fault?

    /// - Parameters:
    ///   - base: the authority that answers.
    ///   - fault: returns the fault of a call; nil for none. Called once for each call.
    public init(
        _ base: any Authority<Event>,
        fault: @escaping @Sendable (Call) -> Fault? = { _ in nil }
    ) {
        self.base = base
        self.fault = fault
    }

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        let fault = fault(.submit(intents.map(\.id)))
        if case .later(let after) = fault {
            let later = Verdict<Event>.later(after: after, reason: "simulated fault: postponed")
            return Verdicts(Dictionary(uniqueKeysWithValues: intents.map { ($0.id, later) }))
        }
        let verdicts = try await with(fault) { () throws(AuthorityFailure) in
            try await base.submit(intents, from: device)
        }
        guard case .partial(let count) = fault else { return verdicts }
        let answered = Set(intents.prefix(count).map(\.id))
        return Verdicts(
            verdicts.byIntent.filter { answered.contains($0.key) }, lineage: verdicts.lineage,
            head: verdicts.head)
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        let fault = fault(.changes(after: device.through))
        return try await with(fault) { () throws(AuthorityFailure) in
            try await base.changes(after: device)
        }
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        let fault = fault(.changes(after: device.through))
        return try await with(fault) { () throws(AuthorityFailure) in
            try await base.changes(after: device, waiting: waiting)
        }
    }

    private func with<R: Sendable>(
        _ fault: Fault?, _ call: () async throws(AuthorityFailure) -> R
    ) async throws(AuthorityFailure) -> R {
        switch fault {
        case .lostBefore: throw .unreachable(reason: "simulated fault: the call was lost")
        case .later(let after), .unavailable(let after):
            throw .unavailable(after: after, reason: "simulated fault: overloaded")
        case .unauthenticated: throw .unauthenticated(reason: "simulated fault: signed out")
        case .failed: throw .failed(reason: "simulated fault: the server failed")
        case .lostAfter:
            _ = try await call()
            throw .unreachable(reason: "simulated fault: the answer was lost")
        case .duplicated:
            _ = try await call()
            return try await call()
        case .partial, nil: return try await call()
        }
    }
}
