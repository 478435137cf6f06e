import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// A wait has nine limits and ten inputs, and each pair of them can meet. The tables of examples
/// cover few of those meetings, so these tests try random ones against ``NaiveWait``.
///
/// Properties, for any inputs and clock steps:
/// - What is seen, and the cues, are those of the naive wait (U10 to U17).
/// - Steps in between change nothing: neither the state nor the cues (U10).
/// - ``ProgressState/nextChange`` is the next millisecond in which the naive wait changes (U18).
/// - Phases go back only from stalled to long, and to instant on a restart (U10).
@Suite struct ProgressPropertyTests {
    @Test func `U10 to U17: a wait looks and sounds like one that looks at each millisecond`()
        async throws
    {
        let seed = testSeed("waits", variable: "FOLDBACK_WAIT_SEED")
        for number in 0..<UInt64(TestEffort.value(quick: 400, full: 6_000)) {
            var choices = Choices(seed: seed &+ number)
            guard case .fails = Self.outcome(&choices) else { continue }
            let result = await Shrinker(candidatesMax: 3_000)
                .shrink(choices.recording, failing: "it") { Self.outcome(&$0) }
            var smallest = Choices(replaying: result.smallest.values)
            let run = RandomWait(&smallest)
            Issue.record("seed \(seed &+ number): \(run.difference() ?? "passes")\n\(run)")
            return
        }
    }

    private static func outcome(_ choices: inout Choices) -> Shrinker.TrialResult<String> {
        RandomWait(&choices).difference() == nil ? .passes : .fails("it")
    }
}

/// A wait with random inputs at random times.
private struct RandomWait: CustomStringConvertible {
    let wait: Wait
    let limits: NaiveWait.Limits
    /// Milliseconds since the step before, and an input.
    private(set) var steps: [(delay: Int, input: ProgressInput?)] = []

    init(_ choices: inout Choices) {
        limits = choices.span { Self.limits(&$0) }
        wait = choices.span { Self.wait(&$0) }
        let delays = Self.delays(limits)
        try? choices.repeating(0...14) { choices in
            let delay = choices.pick(delays) + Int(choices.draw(upTo: 2, .uniform))
            steps.append((delay, choices.pick(Self.inputs)))
            return true
        }
    }

    var policy: ProgressPolicy {
        ProgressPolicy(
            busyAfter: .milliseconds(limits.busy), indicatorAfter: .milliseconds(limits.indicator),
            textAfter: .milliseconds(limits.text), stillAfter: .milliseconds(limits.still),
            longAfter: .milliseconds(limits.long), stallAfter: .milliseconds(limits.stall),
            minimumVisible: .milliseconds(limits.minimum))
    }

    var description: String {
        "\(wait)\n\(limits)\n"
            + steps.map { "+\($0.delay) \($0.input.map { "\($0)" } ?? "")" }.joined(separator: "\n")
    }

    /// Mostly short limits, so that a case is fast. Estimates need the default policies.
    private static func limits(_ choices: inout Choices) -> NaiveWait.Limits {
        switch choices.draw(upTo: 2, .weights([60, 1, 1])) {
        case 0:
            var limit = 0
            func next(_ least: Int = 0) -> Int {
                limit += least + Int(choices.draw(upTo: 9, .uniform))
                return limit
            }
            let (busy, indicator, text) = (next(), next(), next())
            let still = next(1) - text
            return NaiveWait.Limits(
                busy: busy, indicator: indicator, text: text, still: still, long: next(),
                stall: next(), minimum: Int(choices.draw(upTo: 20, .uniform)))
        case 1: return NaiveWait.Limits()
        default: return NaiveWait.Limits(indicator: 1_000)
        }
    }

    private static func wait(_ choices: inout Choices) -> Wait {
        Wait(
            .sending, presentation: choices.pick([.parallel, .obstructive(.all)]),
            initiator: choices.pick([.user(), .app, .user(origin: "button")]),
            style: choices.pick([.spinner, .bar, .none]), isDurable: choices.pick([false, true]))
    }

    private static func delays(_ limits: NaiveWait.Limits) -> [Int] {
        let edges = [
            limits.busy, limits.indicator, limits.text, limits.still, limits.long, limits.stall,
            limits.minimum, limits.long / 2, limits.stall / 3,
        ]
        // With the draw of 0 to 2, one millisecond before, at and after each edge.
        return [0, 1] + edges.map { max(0, $0 - 1) }
    }

    private static let inputs: [ProgressInput?] = [
        nil, nil, nil, .signOfLife, .succeeded, .restarted, .restarted, .reduceMotion(true),
        .reduceMotion(false), .attempt(2), .attempt(3), .fraction(0.04), .fraction(0.05),
        .fraction(0.3), .fraction(0.5), .fraction(0), .fraction(1), .fraction(-1), .fraction(.nan),
        .fraction(2), .cancelled, .continuedInBackground, .failed(Recovery()),
        .failed(Recovery(cause: .offline, canRestart: false)), .cause(.offline), .cause(.signedOut),
        .cause(.unknown), .cause(.failing(reason: "full")), .cause(.serverBusy(until: nil)),
        .cause(.serverBusy(until: .ms(20))), .cause(.serverBusy(until: .ms(90))),
        .cause(.serverBusy(until: .seconds(20))),
    ]

    // MARK: Checking

    /// The first difference between the wait and the naive wait; nil if there is none.
    func difference() -> String? {
        var naive = NaiveWait(wait, limits)
        var state = ProgressState(wait, policy)
        // Advances only at inputs.
        var lazy = state
        var (cues, lazyCues) = (state.advance(to: .zero), lazy.advance(to: .zero))
        guard cues == naive.begin() else { return "at 0: the cues \(cues)" }
        var now = 0
        for (delay, input) in steps + [(limits.minimum, nil)] {
            let promised = state.nextChange
            let (expected, change) = naive.ticks(delay)
            if let problem = Self.broken(promised, change, from: now, for: delay) {
                return problem
            }
            now += delay
            let before = state.phase
            var new = state.advance(to: .ms(now))
            guard new == expected else { return "at \(now): \(new) instead of \(expected)" }
            if let input {
                let heard = state.handle(input, at: .ms(now))
                let expected = naive.handle(input)
                guard heard == expected else {
                    return "at \(now), \(input): \(heard) instead of \(expected)"
                }
                new += heard
                lazyCues += lazy.handle(input, at: .ms(now))
            }
            cues += new
            guard Seen(state) == naive.seen else {
                return "at \(now): \(Seen(state)) instead of \(naive.seen)"
            }
            let isAlive = before.rank == 4 && state.phase == .long
            if state.phase.rank < before.rank, input != .restarted, !isAlive {
                return "at \(now): \(state.phase) after \(before)"
            }
        }
        lazyCues += lazy.advance(to: .ms(now))
        guard cues == lazyCues else { return "\(cues) in steps, \(lazyCues) at once" }
        return state == lazy ? nil : "\(state) in steps, \(lazy) at once"
    }

    /// Compares the promised change with the first change within a time; nil if they agree.
    private static func broken(
        _ promised: Moment?, _ change: Int?, from now: Int, for delay: Int
    ) -> String? {
        // An estimate may end between two milliseconds.
        let tick = promised.map { promise in
            let after = Moment.ms(now).duration(to: promise).attoseconds
            return Int((after + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        if tick.flatMap({ $0 <= delay ? $0 : nil }) == change { return nil }
        return "at \(now): \(tick as Any) ms to the next change, but it was after \(change as Any)"
    }
}

extension NaiveWait {
    /// Ticks, and returns the cues and the number of the first tick that changed something.
    fileprivate mutating func ticks(_ count: Int) -> (cues: [Cue], change: Int?) {
        var cues: [Cue] = []
        var change: Int?
        var before = seen
        for number in 0..<count {
            let new = tick()
            cues += new
            guard change == nil else { continue }
            let after = seen
            if after != before || !new.isEmpty { change = number + 1 }
            before = after
        }
        return (cues, change)
    }
}

extension ProgressPhase {
    fileprivate var rank: Int {
        switch self {
        case .instant: 0
        case .busy: 1
        case .waiting: 2
        case .long: 3
        case .stalled: 4
        case .ended: 5
        }
    }
}

extension Choices {
    fileprivate mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(draw(upTo: UInt64(values.count - 1), .uniform))]
    }
}
