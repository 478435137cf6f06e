import Foldback
import FoldbackHistory

/// Counters by name that never fall below zero.
package struct Counters: TraceableProjection, Codable, Hashable {
    package enum Event: Codable, Hashable, Sendable {
        case added(String, Int)
        case spent(String, Int)
        case reset(String)
    }

    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
        switch event {
        case .added(let name, _), .spent(let name, _), .reset(let name): [name]
        }
    }

    package func part(at name: String) -> Int? { counts[name] }

    package mutating func apply(_ event: Event, _ context: EventContext) throws(CounterError) {
        switch event {
        case .added(let name, let amount): try change(name, by: amount)
        case .spent(let name, let amount):
            let (negative, overflow) = (0).subtractingReportingOverflow(amount)
            guard !overflow else { throw .tooMuch }
            try change(name, by: negative)
        case .reset(let name): counts[name] = nil
        }
    }

    private mutating func change(_ name: String, by amount: Int) throws(CounterError) {
        let (sum, overflow) = counts[name, default: 0].addingReportingOverflow(amount)
        guard !overflow else { throw .tooMuch }
        guard sum >= 0 else { throw .tooLittle }
        counts[name] = sum
    }
}

/// The reason why an event does not apply to ``Counters``.
package enum CounterError: Error {
    /// The sum would overflow.
    case tooMuch
    /// The sum would be below zero.
    case tooLittle
}
