import Foldback

/// ``Counters`` as a stored projection.
package struct StoredCounters: StoredProjection {
    package static let counts = RowTable("counts", key: String.self, row: Int.self)
    package static let byCount = counts.index("by count") { _, count in count }
    package static let schema = RowSchema(counts, byCount)

    package static func apply(
        _ event: Counters.Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .added(let name, let amount): try change(name, by: amount, &rows)
        case .spent(let name, let amount):
            let (negative, overflow) = (0).subtractingReportingOverflow(amount)
            guard !overflow else { throw CounterError.tooMuch }
            try change(name, by: negative, &rows)
        case .reset(let name): try rows.remove(name, from: counts)
        }
    }

    private static func change(
        _ name: String, by amount: Int, _ rows: inout TouchedRows
    ) throws {
        try rows.update(name, in: counts, default: 0) { count in
            let (sum, overflow) = count.addingReportingOverflow(amount)
            guard !overflow else { throw CounterError.tooMuch }
            guard sum >= 0 else { throw CounterError.tooLittle }
            count = sum
        }
    }
}
