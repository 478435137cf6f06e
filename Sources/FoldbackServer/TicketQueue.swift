import Foldback
import FoldbackSync

/// A request that waits for its decisions.
struct Ticket<Event: Sendable>: Sendable {
    /// What a waiting request is told.
    enum Word: Sendable {
        /// Its group is decided.
        case answered(Result<Verdicts<Event>, AuthorityFailure>)
        /// It is the first in the queue, and decides its group itself.
        case yourTurn
    }

    let intents: [Submission<Event>]
    /// The first intent of each row of intents that come from one replica. Most requests have one.
    let firsts: [IntentID]
    let account: Account
    let bytes: Int
    /// Nil once the request decides itself.
    var waiting: UnsafeContinuation<Word, Never>?

    init(
        _ intents: [Submission<Event>], by account: Account,
        waiting: UnsafeContinuation<Word, Never>?
    ) {
        self.intents = intents
        firsts = firstsOfReplicas(in: intents)
        self.account = account
        self.waiting = waiting
        bytes = intents.reduce(0) { $0 + $1.payload.bytes.count }
    }
}

/// Returns the first intent of each row of intents that come from one replica.
func firstsOfReplicas<Event>(in intents: [Submission<Event>]) -> [IntentID] {
    var firsts: [IntentID] = []
    for intent in intents where firsts.last?.replica != intent.id.replica {
        firsts.append(intent.id)
    }
    return firsts
}

/// The requests of a space that are not decided yet, in order of arrival.
struct TicketQueue<Event: Sendable>: Sendable {
    private var tickets: [Ticket<Event>] = []
    private var intentCount = 0
    private var bytes = 0

    /// Whether another request may wait (N11).
    var hasRoom: Bool {
        intentCount < SpaceLimits.queueCountMax && bytes < SpaceLimits.queueBytesMax
    }

    mutating func append(_ ticket: Ticket<Event>) {
        tickets.append(ticket)
        note(ticket, 1)
    }

    private mutating func note(_ ticket: Ticket<Event>, _ sign: Int) {
        intentCount += sign * ticket.intents.count
        bytes += sign * ticket.bytes
    }

    /// Puts requests back to the front, in their order.
    mutating func putBack(_ group: some Collection<Ticket<Event>>) {
        tickets.insert(contentsOf: group, at: 0)
        for ticket in group { note(ticket, 1) }
    }

    /// Takes the requests of the next group: whole requests, as many as fit, and at least one.
    mutating func takeGroup() -> [Ticket<Event>] {
        var (count, bytes, taken) = (0, 0, 0)
        for ticket in tickets {
            count += ticket.intents.count
            bytes += ticket.bytes
            let fits = count <= SpaceLimits.groupCountMax && bytes <= SpaceLimits.groupBytesMax
            if taken > 0, !fits { break }
            taken += 1
        }
        let group = Array(tickets.prefix(taken))
        tickets.removeFirst(taken)
        for ticket in group { note(ticket, -1) }
        return group
    }

    /// Returns the continuation of the first request, which decides now; nil if there is none.
    mutating func takeFirstWaiting() -> UnsafeContinuation<Ticket<Event>.Word, Never>? {
        guard !tickets.isEmpty else { return nil }
        defer { tickets[0].waiting = nil }
        return tickets[0].waiting
    }
}
