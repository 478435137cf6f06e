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
    /// A long poll, or its answer, never arrived.
    case lostPoll = "lost long poll"
    /// The authority answered a long poll at once, without events.
    case earlyPoll = "early answer to a long poll"
    case rejection
    /// The authority accepted an intent with another event.
    case rewording
    /// The answer had events as bytes, and an event that no replica can read at each position.
    case newerAnswer = "newer answer"
    /// The authority put off its verdicts.
    case later
    /// The authority was unavailable.
    case unavailable
    case unauthenticated
    /// The authority carried a request out, and failed.
    case failure
    /// The authority failed on every request for a time.
    case outage
    /// The authority failed on a request because of one of its intents.
    case poison
    /// An outbox was run while another ran, or right after another was canceled.
    case secondRun = "second run"
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
    /// The authority lost its newest data, and began again under another lineage.
    case authorityLoss = "authority loss"
    /// A superseded replica continued on a new log.
    case succession
    /// Tasks that were ready at the same time ran in random order.
    case disorder
}
