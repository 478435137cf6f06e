/// A fault in a simulation. It is counted when it happens, not when it is planned.
public enum SimulatedFault: String, CaseIterable, Hashable, Sendable {
    /// A request took time to arrive.
    case latency
    /// A request, or its answer, arrived after a request that the same replica sent later.
    case reordering
    /// A request never arrived.
    case lostRequest = "lost request"
    /// A request was carried out, and its answer never arrived.
    case lostAnswer = "lost answer"
    /// The answer arrived after the timeout of its request.
    case lateAnswer = "late answer"
    /// A request arrived twice.
    case duplicate
    /// The answer had only some of the verdicts or events.
    case partialAnswer = "partial answer"
    case rejection
    /// The authority accepted an intent with another event.
    case rewording
    /// The authority put off its verdicts.
    case later
    /// The authority was unavailable.
    case unavailable
    case unauthenticated
    /// A replica was cut off without knowing it.
    case partition
    /// A replica was offline and knew it.
    case offline
    /// A replica's process crashed and restarted.
    case crash
    /// A replica restarted on a copy of its log.
    case copy
    /// The authority's process crashed and restarted, with its decisions.
    case authorityCrash = "authority crash"
    /// Tasks that were ready at the same time ran in random order.
    case disorder
}
