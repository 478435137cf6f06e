import FoldbackTesting
import Testing

/// The first failing recordings of each of 50 seeds, shrunk.
private func minima<Value>(
    _ generator: Generator<Value>, failing isFailing: @escaping @Sendable (Value) -> Bool
) async throws -> [Value] {
    var minima: [Value] = []
    for seed in 0..<50 as Range<UInt64> {
        let recording = try #require(
            (0..<100_000).lazy.compactMap { failure(generator, isFailing, seed: seed << 32 + $0) }
                .first, "seed \(seed) finds nothing")
        let result = await Shrinker(candidatesMax: 50_000).shrink(recording, failing: "it") {
            outcome(generator, isFailing, &$0)
        }
        #expect(result.ending == .minimalForThesePasses, "seed \(seed)")
        #expect(result.others == [])
        var choices = Choices(replaying: result.smallest.values)
        minima.append(try generator.generate(from: &choices))
    }
    return minima
}

private func failure<Value>(
    _ generator: Generator<Value>, _ isFailing: (Value) -> Bool, seed: UInt64
) -> Recording? {
    var choices = Choices(seed: seed)
    guard outcome(generator, isFailing, &choices) == .fails("it") else { return nil }
    return choices.recording
}

private func outcome<Value>(
    _ generator: Generator<Value>, _ isFailing: (Value) -> Bool, _ choices: inout Choices
) -> Shrinker.Outcome<String> {
    guard let value = try? generator.generate(from: &choices) else { return .discarded }
    return isFailing(value) ? .fails("it") : .passes
}

private let lists = Generator<[Int]>.arrays(of: .integers(), count: 0...30)

/// The challenges of github.com/jlink/shrinking-challenge, and like ones: each ends at its least value
/// from any of 50 seeds.
@Suite struct ShrinkingChallengeTests {
    @Test func `a list that is not its reverse`() async throws {
        let minima = try await minima(lists) { $0 != $0.reversed() }
        #expect(Set(minima) == [[0, 1]])
    }

    @Test func `a sum over a limit`() async throws {
        let small = Generator<[Int]>.arrays(of: .integers(in: 0...100), count: 0...30)
        #expect(Set(try await minima(small) { $0.reduce(0, +) > 150 }) == [[51, 100]])
        let signed = Generator<[Int]>.arrays(of: .integers(in: -1_000...1_000), count: 0...30)
        #expect(Set(try await minima(signed) { $0.reduce(0, +) > 1_500 }) == [[501, 1_000]])
        #expect(Set(try await minima(signed) { $0.reduce(0, +) < -1_500 }) == [[-501, -1_000]])
    }

    @Test func `three distinct elements`() async throws {
        #expect(Set(try await minima(lists) { Set($0).count >= 3 }) == [[0, 1, -1]])
    }

    @Test func `elements of nested lists`() async throws {
        let nested = Generator<[[Int]]>.arrays(of: lists, count: 0...30)
        let long = try await minima(nested) { $0.reduce(0) { $0 + $1.count } > 10 }
        #expect(Set(long) == [[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]])
        let many = try await minima(nested) { Set($0.joined()).count >= 5 }
        #expect(Set(many) == [[[0, 1, -1, 2, -2]]])
    }

    @Test func `a string with some character`() async throws {
        #expect(Set(try await minima(.strings()) { $0.contains("\"") }) == ["\""])
        #expect(Set(try await minima(.strings()) { $0.count > 2 }) == ["aaa"])
        let composed = try await minima(.strings()) { $0.utf8.count != $0.unicodeScalars.count }
        #expect(composed.allSatisfy { $0.unicodeScalars.count == 1 }, "\(composed)")
    }

    @Test func `an index into what was drawn before`() async throws {
        let pairs = Generator<Int>.integers(in: 1...1_000).flatMap { n in
            Generator<Int>.integers(in: 0...n - 1).map { Pair(first: n, second: $0) }
        }
        #expect(Set(try await minima(pairs) { $0.second >= 10 }) == [Pair(first: 11, second: 10)])
    }

    @Test func `as many elements as a number drawn before says`() async throws {
        let counted = Generator<Int>.integers(in: 0...20).flatMap { n in
            Generator<[Int]>.arrays(of: .integers(in: 0...100), count: n...n)
        }
        #expect(Set(try await minima(counted) { $0.contains { $0 >= 7 } }) == [[7]])
        #expect(Set(try await minima(counted) { $0 != $0.sorted() }) == [[1, 0]])
    }

    @Test func `what was mapped and filtered`() async throws {
        let multiples = Generator<[Int]>.arrays(
            of: .integers(in: 0...10_000).filter { $0 % 3 == 1 }.map { $0 * 10 }, count: 0...20)
        #expect(Set(try await minima(multiples) { $0.contains { $0 > 5_000 } }) == [[5_020]])
        #expect(Set(try await minima(multiples) { $0.count > 1 }) == [[10, 10]])
    }

    @Test func `numbers that are tied to each other`() async throws {
        let numbers = Generator<Int>.integers(in: 0...1_000_000)
        let withOne = Generator<Deletion>.making(
            Deletion.init, .arrays(of: .integers(in: 0...20), count: 0...20), .integers(in: 0...20))
        let twice = try await minima(withOne) { value in
            value.list.filter { $0 == value.element }.count > 1
        }
        #expect(Set(twice) == [Deletion(list: [0, 0], element: 0)])
        let pairs = Generator<Pair>.making(
            Pair.init, numbers, numbers.map { $0 % 50 })
        let near = try await minima(pairs) { $0.first >= 10 && abs($0.first - $0.second) == 1 }
        #expect(Set(near) == [Pair(first: 10, second: 9)])
    }

    @Test func `a calculator that divides by an expression of zero`() async throws {
        let expressions = Generator<Expression>.recursive(
            depthMax: 5, .making(Expression.number, .integers())
        ) { expression in
            .oneOf(
                .making(Expression.sum, expression, expression),
                .making(Expression.quotient, expression, expression))
        }
        let minima = try await minima(expressions) {
            $0.dividesByLiteral == false && $0.value == nil
        }
        #expect(Set(minima) == [.quotient(.number(0), .sum(.number(0), .number(0)))])
    }

    @Test func `an event among others`() async throws {
        let events = Generator<[SampleEvent]>.arrays(of: SampleEvent.generator, count: 0...12)
        let praised = try await minima(events) { $0.contains { $0.isPraise } }
        #expect(Set(praised) == [[.commented("", stars: 4)]])
        let moved = try await minima(events) { events in
            events.contains { if case .moved(_, -5, _) = $0 { true } else { false } }
        }
        #expect(Set(moved) == [[.moved(x: 0, y: -5, z: 0)]])
        let deep = try await minima(SampleEvent.generator) { $0.containsCommented }
        #expect(Set(deep) == [.commented("", stars: 1)])
        let ordered = try await minima(events) { events in
            let kinds = events.map { "\($0)".prefix(3) }
            guard let post = kinds.firstIndex(of: "pos") else { return false }
            return kinds[post...].contains("com")
        }
        #expect(Set(ordered) == [[.posted(text: ""), .commented("", stars: 1)]])
    }
}

@Suite struct ShrinkerTests {
    private enum Failure: Hashable, Sendable { case large, odd }

    /// Lists with a large sum fail, and those with 13 otherwise.
    private static func check(_ choices: inout Choices) -> Shrinker.Outcome<Failure> {
        let lists = Generator<[Int]>.arrays(of: .integers(in: 0...1_000), count: 0...30)
        guard let list = try? lists.generate(from: &choices) else { return .discarded }
        if list.contains(where: { $0 % 100 == 13 }) { return .fails(.odd) }
        return list.reduce(0, +) > 900 ? .fails(.large) : .passes
    }

    private static func large(seed: UInt64) -> Recording? {
        var choices = Choices(seed: seed)
        return check(&choices) == .fails(.large) ? choices.recording : nil
    }

    private static func shrink(
        _ recording: Recording, candidatesMax: Int = 50_000
    ) async -> Shrinker.Result<Failure> {
        await Shrinker(candidatesMax: candidatesMax)
            .shrink(recording, failing: Failure.large) { check(&$0) }
    }

    @Test func `a candidate that fails otherwise is kept apart, and never followed`() async {
        var met = 0
        for seed in 0..<200 as Range<UInt64> {
            guard let recording = Self.large(seed: seed) else { continue }
            let result = await Self.shrink(recording)
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
        }
        #expect(met > 10)
    }

    @Test func `it says that the budget was spent exactly when it was`() async throws {
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

    @Test func `it stops when it is out of time`() async throws {
        let recording = try #require((0..<200).lazy.compactMap { Self.large(seed: $0) }.first)
        let late = await Shrinker(candidatesMax: .max, isOutOfTime: { true })
            .shrink(recording, failing: Failure.large) { Self.check(&$0) }
        #expect(late.ending == .stoppedByBudget)
        #expect(late.candidates == 0)
        #expect(late.smallest == recording)
    }

    @Test func `the same recording is shrunk over the same candidates`() async throws {
        let recording = try #require((0..<200).lazy.compactMap { Self.large(seed: $0) }.first)
        var runs: [[Recording]] = []
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

    @Test func `what ends as minimal has no choice that could be one less or left out`() async {
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

    /// A store that lives on an actor can be checked there.
    @MainActor @Test func `the check runs where the caller does, one candidate at a time`() async {
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

/// What a check was given.
private final class Log { var recordings: [Recording] = [] }

private struct Pair: Hashable, Sendable {
    let first: Int
    let second: Int
}

private struct Deletion: Hashable, Sendable {
    let list: [Int]
    let element: Int
}

private indirect enum Expression: Hashable, Sendable {
    case number(Int)
    case sum(Expression, Expression)
    case quotient(Expression, Expression)

    /// Nil where something is divided by zero.
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
    fileprivate var isPraise: Bool {
        if case .commented(_, 4...) = self { true } else { false }
    }

    fileprivate var containsCommented: Bool {
        switch self {
        case .commented: true
        case .all(let events): events.contains(where: \.containsCommented)
        case .cleared, .posted, .moved, .tagged: false
        }
    }
}
