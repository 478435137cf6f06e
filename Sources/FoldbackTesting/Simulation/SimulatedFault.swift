/// What goes wrong in a simulation. Each is counted where it has happened, not where it was planned.
public enum SimulatedFault: String, CaseIterable, Hashable, Sendable {
    /// A request took time on its way.
    case latency
    /// A request arrived behind one that the same replica sent later, or its answer did.
    case reordering
    /// A request never arrived.
    case lostRequest = "lost request"
    /// A request was carried out, and the answer never came.
    case lostAnswer = "lost answer"
    /// The answer came after the replica had given it up, past the request that asked.
    case lateAnswer = "late answer"
    /// A request arrived twice.
    case duplicate
    /// The answer told of some intents, or brought some events, only.
    case partialAnswer = "partial answer"
    case rejection
    /// The authority accepted an intent in other words.
    case rewording
    /// The authority wanted to be asked about intents later.
    case later
    /// The authority took no requests.
    case unavailable
    case unauthenticated
    /// A replica was cut off, and did not know it.
    case partition
    /// A replica was cut off, and knew it.
    case offline
    /// A replica's process ended and began again.
    case crash
    /// A replica began again on a copy of its log.
    case copy
    /// The authority's process ended and began again; it keeps what it has decided.
    case authorityCrash = "authority crash"
    /// Tasks that were ready at once ran in an order by chance.
    case disorder
}
