/// A map from intent number to value, with little memory for no value or one value, the usual
/// cases.
package enum SmallMap<Value: Sendable>: Sendable {
    case none
    case one(IntentNumber, Value)
    case many(NumberMap<IntentNumber, Value>)

    var isEmpty: Bool {
        switch self {
        case .none: true
        case .one: false
        case .many(let map): map.isEmpty
        }
    }

    subscript(number: IntentNumber) -> Value? {
        get {
            switch self {
            case .none: nil
            case .one(let only, let value): only == number ? value : nil
            case .many(let map): map[number]
            }
        }
        set {
            switch self {
            case .none:
                if let newValue { self = .one(number, newValue) }
            case .one(number, _): self = newValue.map { .one(number, $0) } ?? .none
            case .one(let only, let value):
                guard let newValue else { return }
                var map = NumberMap<IntentNumber, Value>()
                map[only] = value
                map[number] = newValue
                self = .many(map)
            case .many(var map):
                // Releases the reference in the enum. With two references, the change would copy
                // the map.
                self = .none
                map[number] = newValue
                if map.count > 1 {
                    self = .many(map)
                } else if let (only, value) = map.first {
                    self = .one(only, value)
                }
            }
        }
    }

    /// Returns the last pair before `number`; the last of all pairs if `number` is nil.
    func last(before number: IntentNumber? = nil) -> (key: IntentNumber, value: Value)? {
        switch self {
        case .none: nil
        case .one(let only, let value): number.map { only < $0 } ?? true ? (only, value) : nil
        case .many(let map): map.last(before: number)
        }
    }

    /// Returns the first pair after `number`.
    func first(after number: IntentNumber) -> (key: IntentNumber, value: Value)? {
        switch self {
        case .none: nil
        case .one(let only, let value): only > number ? (only, value) : nil
        case .many(let map): map.first(from: number.next)
        }
    }

    /// Returns the numbers after `first`, up to and including `last`, ascending; all after `first`
    /// if `last` is nil.
    func numbers(after first: IntentNumber, through last: IntentNumber?) -> [IntentNumber] {
        switch self {
        case .none: return []
        case .one(let only, _):
            return only > first && last.map({ only <= $0 }) ?? true ? [only] : []
        case .many(let map):
            var numbers: [IntentNumber] = []
            for (number, _) in map.from(first.next) {
                guard last.map({ number <= $0 }) ?? true else { break }
                numbers.append(number)
            }
            return numbers
        }
    }
}

/// The intents of the overlay that read or write one row, in number order.
///
/// ```
/// confirmed ─▶ 3 reads ─▶ 5 writes A ─▶ 6 reads A ─▶ 9 writes B ─▶ the view has B
/// ```
///
/// Each reader sees the value of the last writer before it, or the confirmed row if there is none.
/// An intent that reads the row before it writes it is both: a reader of the value below it, and a
/// writer. An intent that reads only its own value is not a reader.
///
/// A changed value concerns the readers from its place up to and including the next writer. Later
/// readers see the value of that writer.
///
/// Invariants, kept by ``RowOverlay``:
/// - `readers` has each intent whose evaluation read the row by key, conflicted intents included.
///   Reads of ranges are not here but in the overlay's `ranges`.
/// - `writers` has each intent whose evaluation writes the row, with the value; `.absent` is a
///   removal. A conflicted intent writes nothing.
/// - A chain that the overlay keeps is not empty.
package struct RowChain: Sendable {
    var writers = SmallMap<RowValue>.none
    var readers = SmallMap<Void>.none

    var isEmpty: Bool { writers.isEmpty && readers.isEmpty }

    /// The row as the view has it; nil if no intent writes it, so that the view has the confirmed
    /// row.
    package var visible: RowValue? { writers.last()?.value }

    /// Returns the readers that see the row's value after `number`: up to and including the next
    /// writer.
    func readers(after number: IntentNumber) -> [IntentNumber] {
        readers.numbers(  // mutant: row-readers
            after: number, through: writers.first(after: number)?.key)
    }

    /// The intents that read or write the row, ascending.
    package var intents: [IntentNumber] {
        let writers = writers.numbers(after: 0, through: nil)
        let readers = readers.numbers(after: 0, through: nil)
        return Set(writers + readers).sorted()
    }
}

/// The result of applying one intent of the overlay: the rows that it read and the rows that it
/// writes.
package final class RowEvaluation: Sendable {
    /// The rows that the intent read by key, with the values that they had below it.
    let reads: [(key: KeyBytes, value: RowValue)]
    /// The rows that the intent writes, with their new values; none if `apply` threw.
    let writes: [(key: KeyBytes, value: RowValue)]
    /// The ranges of keys that the intent read. Few intents read any.
    let spans: [KeySpan]
    /// The error that `apply` threw; nil if the intent applies.
    let error: (any Error)?

    init(_ rows: TouchedRows, error: (any Error)?) {
        reads = rows.reads
        writes = error == nil ? rows.writes : []
        spans = rows.spans
        self.error = error
    }

    /// Returns whether the intent reads or writes a row that the other one writes.
    func depends(on other: RowEvaluation) -> Bool {
        let keys = Set(other.writes.map(\.key))
        return !keys.isEmpty
            && (reads.contains { keys.contains($0.key) }
                || writes.contains { keys.contains($0.key) }
                || spans.contains { span in keys.contains(where: span.contains) })
    }
}
