import FoldbackTesting
import Testing

/// Expects that the first failing value of each of 50 seeds shrinks to `least`.
private func expect<Value: Hashable>(
    _ generator: Generator<Value>, shrinksTo least: Value,
    failing isFailing: @escaping @Sendable (Value) -> Bool
) async throws {
    for seed in 0..<50 as Range<UInt64> {
        let recording = try #require(
            (0..<100_000).lazy.compactMap { failure(generator, isFailing, seed: seed << 32 + $0) }
                .first, "seed \(seed) finds nothing")
        let result = await Shrinker(candidatesMax: 20_000).shrink(recording, failing: "it") {
            outcome(generator, isFailing, &$0)
        }
        var choices = Choices(replaying: result.smallest.values)
        let found = try generator.generate(from: &choices)
        #expect(found == least, "seed \(seed) gives \(found)")
        #expect(result.ending == .minimalForThesePasses, "seed \(seed)")
        #expect(result.others == [])
        #expect(result.candidates < 1_000, "seed \(seed)")
    }
}

private func failure<Value>(
    _ generator: Generator<Value>, _ isFailing: (Value) -> Bool, seed: UInt64
) -> RecordedChoices? {
    var choices = Choices(seed: seed)
    guard outcome(generator, isFailing, &choices) == .fails("it") else { return nil }
    return choices.recording
}

private func outcome<Value>(
    _ generator: Generator<Value>, _ isFailing: (Value) -> Bool, _ choices: inout Choices
) -> Shrinker.TrialResult<String> {
    guard let value = try? generator.generate(from: &choices) else { return .discarded }
    return isFailing(value) ? .fails("it") : .passes
}

private let lists = Generator<[Int]>.arrays(of: .integers(), count: 0...30)

/// The challenges of github.com/jlink/shrinking-challenge, and similar challenges.
@Suite struct ShrinkingChallengeTests {
    @Test func `a list that is not a palindrome shrinks to two elements`() async throws {
        try await expect(lists, shrinksTo: [0, 1]) { $0 != $0.reversed() }
    }

    @Test func `a sum over a limit shrinks to its smallest list`() async throws {
        let small = Generator<[Int]>.arrays(of: .integers(in: 0...100), count: 0...30)
        try await expect(small, shrinksTo: [51, 100]) { $0.reduce(0, +) > 150 }
        let signed = Generator<[Int]>.arrays(of: .integers(in: -1_000...1_000), count: 0...30)
        try await expect(signed, shrinksTo: [501, 1_000]) { $0.reduce(0, +) > 1_500 }
        try await expect(signed, shrinksTo: [-501, -1_000]) { $0.reduce(0, +) < -1_500 }
    }

    @Test func `three distinct elements shrink to 0, 1 and -1`() async throws {
        try await expect(lists, shrinksTo: [0, 1, -1]) { Set($0).count >= 3 }
    }

    @Test func `nested lists shrink to one list`() async throws {
        let nested = Generator<[[Int]]>.arrays(of: lists, count: 0...30)
        try await expect(nested, shrinksTo: [Array(repeating: 0, count: 11)]) {
            $0.reduce(0) { $0 + $1.count } > 10
        }
        try await expect(nested, shrinksTo: [[0, 1, -1, 2, -2]]) { Set($0.joined()).count >= 5 }
    }

    @Test func `a string shrinks to one character`() async throws {
        try await expect(.strings(), shrinksTo: "\"") { $0.contains("\"") }
        try await expect(.strings(), shrinksTo: "aaa") { $0.count > 2 }
        try await expect(.strings(), shrinksTo: "\u{7F}") { $0.utf8.contains { $0 > 126 } }
    }

    @Test func `an index shrinks together with its list`() async throws {
        let pairs = Generator<Int>.integers(in: 1...1_000).flatMap { n in
            Generator<Int>.integers(in: 0...n - 1).map { Pair(first: n, second: $0) }
        }
        try await expect(pairs, shrinksTo: Pair(first: 11, second: 10)) { $0.second >= 10 }
    }

    @Test func `a list shrinks together with its length`() async throws {
        let counted = Generator<Int>.integers(in: 0...20).flatMap { n in
            Generator<[Int]>.arrays(of: .integers(in: 0...100), count: n...n)
        }
        try await expect(counted, shrinksTo: [7]) { $0.contains { $0 >= 7 } }
        try await expect(counted, shrinksTo: [1, 0]) { $0 != $0.sorted() }
    }

    @Test func `mapped and filtered values shrink within their generator`() async throws {
        let multiples = Generator<[Int]>.arrays(
            of: .integers(in: 0...10_000).filter { $0 % 3 == 1 }.map { $0 * 10 }, count: 0...20)
        try await expect(multiples, shrinksTo: [5_020]) { $0.contains { $0 > 5_000 } }
        try await expect(multiples, shrinksTo: [10, 10]) { $0.count > 1 }
    }

    @Test func `two related numbers shrink together`() async throws {
        let element = Generator<Int>.integers(in: 0...20)
        try await expect(
            .making(Deletion.init, .arrays(of: element, count: 0...20), element),
            shrinksTo: Deletion(list: [0, 0], element: 0)
        ) { value in
            value.list.filter { $0 == value.element }.count > 1
        }
        let number = Generator<Int>.integers(in: 0...1_000)
        try await expect(
            .making(Pair.init, number, number), shrinksTo: Pair(first: 10, second: 9)
        ) { $0.first >= 10 && abs($0.first - $0.second) == 1 }
    }

    @Test func `a name in two places shrinks in both`() async throws {
        let names = Generator<[String]>.arrays(of: .element(of: ["a", "b"]), count: 0...6)
        try await expect(names, shrinksTo: ["a", "a"]) { names in
            zip(names, names.dropFirst()).contains { $0 == $1 }
        }
    }

    @Test func `parts that depend on each other shrink together`() async throws {
        let number = Generator<Int>.integers(in: 0...20)
        let pairs = Generator<Pair>.making(Pair.init, number, number)
        try await expect(
            .arrays(of: pairs, count: 2...2),
            shrinksTo: [Pair(first: 0, second: 0), Pair(first: 1, second: 0)]
        ) { pairs in
            let (left, right) = (pairs[0], pairs[1])
            let isUsual = left.first > 5 && left.second > 7
            return right.first > 0 && (isUsual || left == Pair(first: 0, second: 0))
        }
        let digit = Generator<Int>.integers(in: 0...9)
        try await expect(.arrays(of: digit, count: 4...4), shrinksTo: [3, 3, 3, 3]) { digits in
            Set(digits).count == 1 && digits[0] >= 3
        }
        let signed = Generator<Int>.integers(in: -9...9)
        try await expect(.arrays(of: signed, count: 3...3), shrinksTo: [-3, -3, -3]) { digits in
            Set(digits).count == 1 && digits[0] <= -3
        }
    }

    @Test func `a tree shrinks to its failing subtree`() async throws {
        let trees = Generator<Tree>.recursive(
            depthMax: 4, .making(Tree.leaf, .integers(in: 0...1_000))
        ) { tree in
            .making(Tree.node, .arrays(of: .integers(in: 0...9), count: 10...10), tree)
        }
        try await expect(trees, shrinksTo: .leaf(100)) { $0.leaf >= 100 }
    }

    @Test func `an expression shrinks to the smallest division by zero`() async throws {
        let expressions = Generator<Expression>.recursive(
            depthMax: 5, .making(Expression.number, .integers())
        ) { expression in
            .oneOf(
                .making(Expression.sum, expression, expression),
                .making(Expression.quotient, expression, expression))
        }
        try await expect(
            expressions, shrinksTo: .quotient(.number(0), .sum(.number(0), .number(0)))
        ) { !$0.dividesByLiteral && $0.value == nil }
    }

    /// Answers name a recorded intent; without intents there are no answers.
    @Test func `a script with dependent steps shrinks to its failing steps`() async throws {
        let scripts = Generator<[Step]> { choices in
            var steps: [Step] = []
            var open: UInt64 = 0
            try choices.repeating(0...40) { choices in
                switch choices.draw(upTo: 2, .uniform) {
                case 0:
                    steps.append(.record(try Generator.strings().generate(from: &choices)))
                    open += 1
                case 1:
                    guard open > 0 else { return false }
                    steps.append(.answer(Int(choices.draw(upTo: open - 1, .uniform))))
                default: steps.append(.reopen)
                }
                return true
            }
            return steps
        }
        try await expect(scripts, shrinksTo: [.record("a"), .reopen, .answer(0)]) { steps in
            let recorded = steps.compactMap { if case .record(let text) = $0 { text } else { nil } }
            return steps.drop { $0 != .reopen }.contains {
                if case .answer(let index) = $0 { recorded[index] != "" } else { false }
            }
        }
    }

    @Test func `a list of events shrinks to the failing event`() async throws {
        let events = Generator<[SampleEvent]>.arrays(of: SampleEvent.generator, count: 0...12)
        try await expect(events, shrinksTo: [.commented("", stars: 4)]) { events in
            events.contains { if case .commented(_, 4...) = $0 { true } else { false } }
        }
        try await expect(events, shrinksTo: [.moved(x: 0, y: -5, z: 0)]) { events in
            events.contains { if case .moved(_, -5, _) = $0 { true } else { false } }
        }
        // The first event changes its case, and the later events stay the same.
        try await expect(
            .arrays(of: SampleEvent.generator, count: 2...2),
            shrinksTo: [.posted(text: ""), .commented("", stars: 4)]
        ) { events in
            guard events[0].isAboutContent else { return false }
            if case .commented(_, 4...) = events[1] { return true } else { return false }
        }
        try await expect(SampleEvent.generator, shrinksTo: .commented("", stars: 1)) {
            $0.containsCommented
        }
        try await expect(events, shrinksTo: [.posted(text: ""), .commented("", stars: 1)]) {
            events in
            let names = events.map { "\($0)".prefix(3) }
            return names.drop { $0 != "pos" }.contains("com")
        }
    }
}

@Suite struct ShrinkerTests {
    private enum Failure: Hashable, Sendable { case large, odd }

    /// Lists fail if their sum is large, and in another way if an element ends in 3.
    private static func check(_ choices: inout Choices) -> Shrinker.TrialResult<Failure> {
        let lists = Generator<[Int]>.arrays(of: .integers(in: 0...1_000), count: 0...30)
        guard let list = try? lists.generate(from: &choices) else { return .discarded }
        if list.contains(where: { $0 % 10 == 3 }) { return .fails(.odd) }
        return list.reduce(0, +) > 900 ? .fails(.large) : .passes
    }

    private static func large(seed: UInt64) -> RecordedChoices? {
        var choices = Choices(seed: seed)
        return check(&choices) == .fails(.large) ? choices.recording : nil
    }

    private static func shrink(
        _ recording: RecordedChoices, candidatesMax: Int = 50_000
    ) async -> Shrinker.Result<Failure> {
        await Shrinker(candidatesMax: candidatesMax)
            .shrink(recording, failing: Failure.large) { check(&$0) }
    }

    @Test func `a candidate that fails in another way is reported, and not shrunk`() async {
        var met = 0
        for seed in 0..<200 as Range<UInt64> {
            guard let recording = Self.large(seed: seed) else { continue }
            let log = Log()
            let result = await Shrinker(candidatesMax: 50_000)
                .shrink(recording, failing: Failure.large) { choices in
                    let outcome = Self.check(&choices)
                    if outcome == .fails(.odd) { log.odd.append(choices.recording) }
                    return outcome
                }
            var choices = Choices(replaying: result.smallest.values)
            #expect(Self.check(&choices) == .fails(.large), "seed \(seed)")
            #expect(choices.recording == result.smallest, "seed \(seed)")
            for other in result.others {
                met += 1
                var choices = Choices(replaying: other.recording.values)
                #expect(other.identity == .odd)
                #expect(Self.check(&choices) == .fails(.odd), "seed \(seed)")
                #expect(choices.recording == other.recording, "seed \(seed)")
            }
            let simplest = log.odd.reduce(nil as RecordedChoices?) { simplest, seen in
                simplest.map { seen.isSimpler(than: $0) ? seen : $0 } ?? seen
            }
            #expect(result.others.map(\.recording) == simplest.map { [$0] } ?? [])
        }
        #expect(met > 10)
    }

    @Test func `the result reports a spent budget exactly if the budget was spent`() async throws {
        let recording = try #require((0..<200).lazy.compactMap { Self.large(seed: $0) }.first)
        let whole = await Self.shrink(recording)
        #expect(whole.ending == .minimalForThesePasses)
        let enough = await Self.shrink(recording, candidatesMax: whole.candidates)
        #expect(enough.ending == .minimalForThesePasses)
        #expect(enough.candidates == whole.candidates)
        #expect(enough.smallest == whole.smallest)
        for candidatesMax in [0, 1, 10, whole.candidates - 1] {
            let less = await Self.shrink(recording, candidatesMax: candidatesMax)
            #expect(less.ending == .stoppedByBudget)
            #expect(less.candidates == candidatesMax)
            #expect(!recording.isSimpler(than: less.smallest))
        }
    }

    @Test func `the search stops when it is out of time`() async throws {
        let recording = try #require((0..<200).lazy.compactMap { Self.large(seed: $0) }.first)
        let late = await Shrinker(candidatesMax: .max, isOutOfTime: { true })
            .shrink(recording, failing: Failure.large) { Self.check(&$0) }
        #expect(late.ending == .stoppedByBudget)
        #expect(late.candidates == 0)
        #expect(late.smallest == recording)
    }

    @Test func `the same recording shrinks over the same candidates`() async throws {
        let recording = try #require((0..<200).lazy.compactMap { Self.large(seed: $0) }.first)
        var runs: [[RecordedChoices]] = []
        for _ in 0..<2 {
            let log = Log()
            _ = await Shrinker(candidatesMax: 5_000).shrink(recording, failing: Failure.large) {
                choices in
                let outcome = Self.check(&choices)
                log.recordings.append(choices.recording)
                return outcome
            }
            runs.append(log.recordings)
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0].count > 20)
    }

    @Test func `a minimal result has no choice that can be lowered or deleted`() async {
        for seed in 0..<200 as Range<UInt64> {
            guard let recording = Self.large(seed: seed) else { continue }
            let smallest = await Self.shrink(recording).smallest
            for place in smallest.values.indices {
                var lower = smallest.values
                lower[place] -= min(lower[place], 1)
                var shorter = smallest.values
                shorter.remove(at: place)
                for values in [lower, shorter] where values != smallest.values {
                    var choices = Choices(replaying: values)
                    #expect(
                        Self.check(&choices) != .fails(.large)
                            || !choices.recording.isSimpler(than: smallest), "seed \(seed)")
                }
            }
        }
    }

    @Test func `a case with fewer choices replaces another case, and later values stay the same`()
        async
    {
        let events = Generator<[SampleEvent]>.arrays(of: SampleEvent.generator, count: 2...2)
        // moved(0, 0, 0) and commented("", 4).
        var moved = Choices(replaying: [0, 3, 0, 0, 0, 0, 2, 0, 3])
        _ = try? events.generate(from: &moved)
        let result = await Shrinker(candidatesMax: 1_000)
            .shrink(moved.recording, failing: true) { choices in
                guard let events = try? events.generate(from: &choices) else { return .discarded }
                let isNamed =
                    "\(events[0])".hasPrefix("posted") || "\(events[0])".hasPrefix("moved")
                return isNamed && events[1] == .commented("", stars: 4)
                    ? .fails(true) : .passes
            }
        var shrunk = Choices(replaying: result.smallest.values)
        #expect(
            (try? events.generate(from: &shrunk)) == [.posted(text: ""), .commented("", stars: 4)])
    }

    /// A store of an actor can be checked there.
    @MainActor @Test func `the check runs in the isolation of the caller, one candidate at a time`()
        async
    {
        var running = 0
        var most = 0
        var recording = Choices(seed: 1)
        _ = recording.draw(upTo: 1_000_000, .uniform)
        let result = await Shrinker(candidatesMax: 500)
            .shrink(recording.recording, failing: true) { choices in
                MainActor.assertIsolated()
                running += 1
                most = max(most, running)
                await Task.yield()
                running -= 1
                return choices.draw(upTo: 1_000_000, .uniform) > 77 ? .fails(true) : .passes
            }
        #expect(result.smallest.values == [78])
        #expect(most == 1)
    }
}

/// The candidates of a check.
private final class Log {
    var recordings: [RecordedChoices] = []
    var odd: [RecordedChoices] = []
}

private struct Pair: Hashable, Sendable {
    let first: Int
    let second: Int
}

private enum Step: Hashable, Sendable {
    case record(String)
    case answer(Int)
    case reopen
}

private struct Deletion: Hashable, Sendable {
    let list: [Int]
    let element: Int
}

private indirect enum Tree: Hashable, Sendable {
    case leaf(Int)
    case node([Int], Tree)

    var leaf: Int {
        switch self {
        case .leaf(let number): number
        case .node(_, let tree): tree.leaf
        }
    }
}

private indirect enum Expression: Hashable, Sendable {
    case number(Int)
    case sum(Expression, Expression)
    case quotient(Expression, Expression)

    /// Nil after a division by zero.
    var value: Int? {
        switch self {
        case .number(let number): return number
        case .sum(let left, let right):
            guard let left = left.value, let right = right.value else { return nil }
            return left &+ right
        case .quotient(let left, let right):
            guard let left = left.value, let right = right.value, right != 0 else { return nil }
            return left.dividedReportingOverflow(by: right).partialValue
        }
    }

    var dividesByLiteral: Bool {
        switch self {
        case .number: false
        case .sum(let left, let right): left.dividesByLiteral || right.dividesByLiteral
        case .quotient(_, .number(0)): true
        case .quotient(let left, let right): left.dividesByLiteral || right.dividesByLiteral
        }
    }
}

extension SampleEvent {
    /// Whether the event is posted, commented or moved.
    fileprivate var isAboutContent: Bool {
        switch self {
        case .posted, .commented, .moved: true
        case .cleared, .tagged, .all: false
        }
    }

    fileprivate var containsCommented: Bool {
        switch self {
        case .commented: true
        case .all(let events): events.contains(where: \.containsCommented)
        case .cleared, .posted, .moved, .tagged: false
        }
    }
}
