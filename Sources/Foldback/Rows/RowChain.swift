/// Values by intent number, of which there are mostly none or one.
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
                // Without the case's own reference, so that the map is not copied.
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

    /// The last before `number`; nil: the last of all.
    func last(before number: IntentNumber? = nil) -> (key: IntentNumber, value: Value)? {
        switch self {
        case .none: nil
        case .one(let only, let value): number.map { only < $0 } ?? true ? (only, value) : nil
        case .many(let map): map.last(before: number)
        }
    }

    func first(behind number: IntentNumber) -> (key: IntentNumber, value: Value)? {
        switch self {
        case .none: nil
        case .one(let only, let value): only > number ? (only, value) : nil
        case .many(let map): map.first(from: number.next)
        }
    }

    /// Those behind `first`, up to `last`.
    func numbers(behind first: IntentNumber, through last: IntentNumber?) -> [IntentNumber] {
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

/// What the overlay has to do with one row: who reads it, and who makes what of it.
///
/// ```
/// confirmed ─▶ 3 reads ─▶ 5 makes A ─▶ 6 reads A ─▶ 9 makes B ─▶ what readers see
/// ```
package struct RowChain: Sendable {
    var writers = SmallMap<RowValue>.none
    var readers = SmallMap<Void>.none

    var isEmpty: Bool { writers.isEmpty && readers.isEmpty }

    /// The row as the view has it; nil where the overlay leaves it as it is confirmed.
    package var visible: RowValue? { writers.last()?.value }

    /// Those who see what the row is behind `number`, and have asked.
    func readers(behind number: IntentNumber) -> [IntentNumber] {
        readers.numbers(  // mutant: row-readers
            behind: number, through: writers.first(behind: number)?.key)
    }

    /// The intents that read or make it, ascending.
    package var intents: [IntentNumber] {
        let writers = writers.numbers(behind: 0, through: nil)
        let readers = readers.numbers(behind: 0, through: nil)
        return Set(writers + readers).sorted()
    }
}

/// What came of applying one intent of the overlay.
package final class RowEvaluation: Sendable {
    /// The rows that it asked for, as they were below it.
    let reads: [(key: KeyBytes, value: RowValue)]
    /// The rows that it changes; none where it does not apply.
    let writes: [(key: KeyBytes, value: RowValue)]

    init(
        reads: [(key: KeyBytes, value: RowValue)], writes: [(key: KeyBytes, value: RowValue)]
    ) {
        self.reads = reads
        self.writes = writes
    }
}
