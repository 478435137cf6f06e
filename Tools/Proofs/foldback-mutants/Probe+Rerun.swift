import Foldback
import FoldbackHistory

/// Questions about reruns.
extension Probe {
    /// The versions differ after the first number, and are equal again after the second number.
    nonisolated(nonsending) func missesEndOfDifference() async throws -> Bool {
        let rerun = try await Self.reader().rerun(
            PartedNumbers<PlainNumbers>.self, PartedNumbers<DoubledOddNumbers>.self)
        return rerun.partsFailed != nil || rerun.divergences.map(\.sequence) != [1, 2, 3, 4]
    }

    /// The versions differ in a sum that no part shows.
    nonisolated(nonsending) func missesHiddenDifference() async throws -> Bool {
        let rerun = try await Self.reader().rerun(
            HiddenSum<PlainNumbers>.self, HiddenSum<DoubledOddNumbers>.self)
        return rerun.partsFailed == nil || rerun.divergences.map(\.sequence) != [1, 2, 3, 4]
    }

    /// Two intents that are acknowledged at once.
    private nonisolated(nonsending) static func reader() async throws -> LogReader {
        let store = Store.inMemory(CorrectProjection.self, confirmedBy: .acknowledgement)
        for number in 1...2 {
            try await store.acknowledge(try await store.record(.put("a", number)).number)
        }
        return try LogReader(try store.history())
    }
}

/// How a version changes numbers.
protocol NumberRule: Sendable {
    static func changed(_ number: Int) -> Int
}

enum PlainNumbers: NumberRule {
    static func changed(_ number: Int) -> Int { number }
}

enum DoubledOddNumbers: NumberRule {
    static func changed(_ number: Int) -> Int { number % 2 == 0 ? number : 2 * number }
}

/// Numbers by key, with parts.
struct PartedNumbers<Rule: NumberRule>: TraceableProjection {
    private(set) var numbers: [String: Int] = [:]

    mutating func apply(_ event: TestEvent, _ context: EventContext) {
        guard case .put(let key, let number) = event else { return }
        numbers[key] = Rule.changed(number)
    }

    static func keys(touchedBy event: TestEvent, _ context: EventContext) -> [String] {
        guard case .put(let key, _) = event else { return [] }
        return [key]
    }

    func part(at key: String) -> Int? { numbers[key] }
}

/// Numbers by key, and their sum under a rule. The parts lack the sum.
struct HiddenSum<Rule: NumberRule>: TraceableProjection {
    private(set) var numbers = PartedNumbers<PlainNumbers>()
    private(set) var sum = 0

    mutating func apply(_ event: TestEvent, _ context: EventContext) {
        numbers.apply(event, context)
        if case .put(_, let number) = event { sum += Rule.changed(number) }
    }

    static func keys(touchedBy event: TestEvent, _ context: EventContext) -> [String] {
        PartedNumbers<PlainNumbers>.keys(touchedBy: event, context)
    }

    func part(at key: String) -> Int? { numbers.part(at: key) }
}
