import Foldback

extension OutboxState {
    /// A group of intents that are sent together.
    package struct Request: Sendable {
        package enum Phase: Sendable { case covering, sent }

        package internal(set) var phase = Phase.covering
        /// The intents that have no answer yet.
        package internal(set) var intents = NumberMap<IntentNumber, Sending>()
        /// The number of intents that were sent, also those with an answer.
        var sentCount = 0
        /// The number of sign-ins before it was sent.
        var signIns = 0
        let isOfSuspects: Bool

        /// Whether one more failure halves the request.
        var isHalvedNext: Bool {
            let failures = intents.map { $0.value.attempt.suspicion.failures }.max() ?? 0
            return sentCount > 1 && failures + 1 >= OutboxPolicy.halveAfter
        }

        init(isOfSuspects: Bool) { self.isOfSuspects = isOfSuspects }

        mutating func keep(_ numbers: [IntentNumber]) {
            var kept = NumberMap<IntentNumber, Sending>()
            for number in numbers { kept[number] = intents[number] }
            intents = kept
        }
    }

    /// An intent of a request.
    package struct Sending: Sendable {
        var attempt: Attempt
        let bytes: Int
    }

    /// An intent that is in no request.
    struct Waiting: Sendable {
        /// The last attempt; nil if there was none.
        let attempt: Attempt?
        let bytes: Int
        var delay: Delay?

        /// The largest number of intents in a request with this intent; nil for the policy's limit.
        var intentsMax: Int? { attempt?.suspicion.intentsMax }

        var isSuspect: Bool { intentsMax != nil }

        /// The order in which suspects are tried: first those that were halved least often, and of
        /// these those that failed least often.
        func suspectRank(at number: IntentNumber) -> (Int, Int, IntentNumber) {
            (-(intentsMax ?? .max), attempt?.suspicion.failures ?? 0, number)
        }
    }

    /// A request that is put together, within the policy's limits.
    struct RequestDraft {
        private(set) var intents: [(IntentNumber, Waiting)] = []
        /// The earliest end of a wait that kept an intent out.
        private(set) var earliest: Timestamp?
        private var bytes = 0
        private let policy: OutboxPolicy

        init(_ policy: OutboxPolicy) { self.policy = policy }

        /// Adds an intent, or returns false if it must be in another request. Suspects of one
        /// request were halved equally often.
        mutating func add(_ number: IntentNumber, _ intent: Waiting) -> Bool {
            if let first = intents.first?.1 {
                let countMax = min(
                    intent.intentsMax ?? .max, policy.intentsPerRequestMax)
                guard intent.intentsMax == first.intentsMax, intents.count < countMax else {
                    return false
                }
                let sum = bytes + intent.bytes
                if sum > policy.bytesPerRequestMax { return false }  // mutant: request-bytes
            }
            intents.append((number, intent))
            bytes += intent.bytes
            return true
        }

        mutating func wait(until end: Timestamp) { earliest = min(earliest ?? end, end) }
    }
}
