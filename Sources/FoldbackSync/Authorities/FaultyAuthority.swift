import Foldback

/// An authority behind a bad link, or with bad moments: each call may go wrong in one way. Does nothing
/// unless it is given faults.
///
/// ```swift
/// let faulty = FaultyAuthority(authority) { call in plan.next(for: call) }
/// ```
public struct FaultyAuthority<Event: Sendable>: Authority {
    /// One thing that goes wrong.
    public enum Fault: Hashable, Sendable {
        /// The call never arrives.
        case lostBefore
        /// It arrives and is carried out; the answer is lost.
        case lostAfter
        /// It arrives twice; the second answer comes back.
        case duplicated
        /// It is carried out, and the answer tells of the first so many intents alone. Nothing goes wrong
        /// with changes.
        case partial(answered: Int)
        /// It is not carried out; each intent is put off. Changes: ``unavailable(after:)``.
        case later(after: Duration?)
        case unavailable(after: Duration?)
        case unauthenticated
    }

    /// A call that could go wrong.
    public enum Call: Hashable, Sendable {
        case submit([IntentID])
        case changes(after: Position)
    }

    private let base: any Authority<Event>
    private let fault: @Sendable (Call) -> Fault?

    /// - Parameters:
    ///   - base: who answers where nothing goes wrong.
    ///   - fault: asked once for each call; nil: nothing goes wrong.
    public init(
        _ base: any Authority<Event>,
        fault: @escaping @Sendable (Call) -> Fault? = { _ in nil }
    ) {
        self.base = base
        self.fault = fault
    }

    public func submit(
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<Event>] {
        let fault = fault(.submit(intents.map(\.id)))
        if case .later(let after) = fault {
            let later = Verdict<Event>.later(after: after, reason: "put off on purpose")
            return Dictionary(uniqueKeysWithValues: intents.map { ($0.id, later) })
        }
        let verdicts = try await with(fault) { () throws(AuthorityFailure) in
            try await base.submit(intents)
        }
        guard case .partial(let count) = fault else { return verdicts }
        let answered = Set(intents.prefix(count).map(\.id))
        return verdicts.filter { answered.contains($0.key) }
    }

    public func changes(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await with(fault(.changes(after: position))) { () throws(AuthorityFailure) in
            try await base.changes(after: position)
        }
    }

    private func with<R: Sendable>(
        _ fault: Fault?, _ call: () async throws(AuthorityFailure) -> R
    ) async throws(AuthorityFailure) -> R {
        switch fault {
        case .lostBefore: throw .unreachable(reason: "lost before it arrived, on purpose")
        case .later(let after), .unavailable(let after):
            throw .unavailable(after: after, reason: "overloaded on purpose")
        case .unauthenticated: throw .unauthenticated(reason: "signed out on purpose")
        case .lostAfter:
            _ = try await call()
            throw .unreachable(reason: "the answer was lost, on purpose")
        case .duplicated:
            _ = try await call()
            return try await call()
        case .partial, nil: return try await call()
        }
    }
}
