import Foldback
import FoldbackSync
import TestSupport

/// An outbox's state with a simulated log, server and clock. It plays until a time, and notes what
/// was sent.
struct OutboxPlay {
    enum Answer {
        case fails(AuthorityFailure)
        /// Verdicts on these intents. The others get none.
        case settles([IntentNumber])
    }

    struct Sent: Equatable {
        let at: Timestamp
        let intents: [IntentNumber]
    }

    let policy: SyncPolicy
    private(set) var state: OutboxState
    private(set) var now = Timestamp(millisecondsSince1970: 0)
    /// The attempts in the log.
    private(set) var rows: [IntentNumber: Attempt] = [:]
    /// The pending intents in the log, with their bytes.
    private(set) var pending: [IntentNumber: Int] = [:]
    private(set) var settledAt: [IntentNumber: Timestamp] = [:]
    private(set) var sent: [Sent] = []
    private(set) var broken: [String] = []
    private var flights: [(end: Timestamp, request: RequestNumber, intents: [IntentNumber])] = []
    private var wait: Timestamp?
    private var random: SeededGenerator
    private var last: UInt64 = 0
    /// How long a request takes.
    private let latency = Duration.milliseconds(100)
    /// Jitter 1 makes each wait its whole backoff.
    private let jitter: Double?
    /// The answer to a request at a time.
    var server: (Timestamp, [IntentNumber]) -> Answer

    init(
        _ policy: SyncPolicy, jitter: Double? = 1, seed: UInt64 = 1,
        server: @escaping (Timestamp, [IntentNumber]) -> Answer
    ) {
        self.policy = policy
        self.jitter = jitter
        self.server = server
        random = SeededGenerator(seed: seed)
        state = OutboxState(policy: policy)
    }

    mutating func record(_ count: Int, bytes: Int = 1) {
        var intents: [PendingIntent] = []
        for _ in 0..<count {
            last += 1
            pending[IntentNumber(last)] = bytes
            intents.append(
                PendingIntent(IntentNumber(last), attempt: nil, isReadable: true, bytes: bytes))
        }
        take(.recorded(intents))
    }

    /// Ends the run, whose requests get no answer, and begins another on the log's rows.
    mutating func restart() {
        flights = []
        state = OutboxState(policy: policy)
        take(
            .recorded(
                pending.keys.sorted().map {
                    PendingIntent($0, attempt: rows[$0], isReadable: true, bytes: pending[$0]!)
                }))
    }

    /// The app withdraws or abandons the intent, or its answer comes from another source.
    mutating func settle(_ number: IntentNumber) {
        pending[number] = nil
        rows[number] = nil
        settledAt[number] = now
        take(.answered([number]))
    }

    mutating func take(_ input: OutboxState.Input) {
        var inputs = [input]
        while !inputs.isEmpty {
            wait = nil
            let actions = state.take(
                [inputs.removeFirst()], at: now,
                jitter: jitter ?? Double.random(in: 0...1, using: &random))
            for action in actions {
                switch action {
                case .cover(let request, let attempts, _):
                    for (number, attempt) in attempts { rows[number] = attempt }
                    inputs.append(.covered(request, pending: attempts.keys.sorted()))
                case .send(let request, let intents):
                    send(intents, request)
                case .note(let attempts):
                    for (number, attempt) in attempts { rows[number] = attempt }
                case .wait(let until): wait = until
                }
            }
        }
    }

    private mutating func send(_ intents: [IntentNumber], _ request: RequestNumber) {
        sent.append(Sent(at: now, intents: intents))
        flights.append((now.advanced(by: latency), request, intents))
        let bytes = intents.reduce(0) { $0 + pending[$1]! }
        if intents.count > 1, bytes > policy.bytesPerRequestMax {
            broken.append("S2: \(intents) have \(bytes) bytes")
        }
        if intents.count > 1, intents.contains(where: { rows[$0]?.quarantine != nil }) {
            broken.append("S3: one of \(intents) is quarantined, and not sent alone")
        }
        if policy.keepsOrder,
            pending.keys.contains(where: { $0 < intents.last! && !intents.contains($0) })
        {
            broken.append("A5: \(intents) are sent before lower intents")
        }
        let open = flights.filter { $0.intents.contains { pending[$0] != nil } }
        if open.count > policy.requestsMax { broken.append("there are too many requests") }
    }

    /// Plays until a time, or until nothing is pending.
    mutating func play(for duration: Duration) {
        let end = now.advanced(by: duration)
        while !pending.isEmpty {
            let flight = flights.min { $0.end < $1.end }
            guard let next = [flight?.end, wait].compactMap({ $0 }).min() else {
                if !pending.isEmpty { broken.append("\(pending.keys.sorted()) wait for nothing") }
                return
            }
            guard next <= end else { break }
            now = max(now, next)
            if let flight, flight.end == next { land(flight.request) } else { take(.timePassed) }
        }
        now = max(now, end)
    }

    private mutating func land(_ request: RequestNumber) {
        let index = flights.firstIndex { $0.request == request }!
        let intents = flights.remove(at: index).intents
        switch server(now, intents) {
        case .fails(let failure): take(.attemptFailed(request, failure))
        case .settles(let numbers):
            for number in numbers {
                pending[number] = nil
                rows[number] = nil
                settledAt[number] = now
            }
            take(
                .attemptAnswered(
                    request,
                    Dictionary(
                        uniqueKeysWithValues: numbers.map { ($0, OutboxState.Reply.settled) })))
        }
    }
}

extension OutboxPlay {
    /// Returns a server that fails on each request with one of these intents.
    static func poisoned(
        _ poison: Set<IntentNumber>
    ) -> (Timestamp, [IntentNumber]) -> Answer {
        { _, intents in
            poison.isDisjoint(with: intents)
                ? .settles(intents) : .fails(.failed(reason: "HTTP 500"))
        }
    }

    /// Returns a server that fails on everything until a time.
    static func failing(
        until end: Timestamp, _ failure: AuthorityFailure = .failed(reason: "HTTP 500")
    ) -> (Timestamp, [IntentNumber]) -> Answer {
        { now, intents in now < end ? .fails(failure) : .settles(intents) }
    }

    var requests: [[IntentNumber]] { sent.map(\.intents) }
}
