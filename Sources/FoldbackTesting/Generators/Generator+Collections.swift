extension Generator {
    /// Nil in a quarter of cases, and the simplest.
    public static func optionals<Wrapped>(of wrapped: Generator<Wrapped>) -> Generator
    where Value == Wrapped? {
        .weighted((1, Generator { _ in nil }), (3, wrapped.map(Optional.some)))
    }

    /// Lists. Shorter ones are simpler, and sorted ones of equal length.
    ///
    /// - Parameters:
    ///   - elements: makes each.
    ///   - count: how many elements. Half of the way from its lower to its upper bound on average, five
    ///     more than the lower bound at most.
    public static func arrays<Element>(
        of elements: Generator<Element>, count: ClosedRange<Int>
    ) -> Generator where Value == [Element] {
        Generator { choices in
            try choices.span { choices in
                var array: [Element] = []
                try choices.repeating(count) { choices in
                    array.append(try elements.generate(from: &choices))
                    return true
                }
                return array
            }
        }
    }

    /// Dictionaries. A key that is drawn again is left out with its value.
    ///
    /// - Parameters:
    ///   - keys: makes each key.
    ///   - values: makes each value.
    ///   - count: how many keys, as for ``arrays(of:count:)``. Discarded where so many different ones are
    ///     not found.
    public static func dictionaries<Key: Sendable, Element>(
        of keys: Generator<Key>, to values: Generator<Element>, count: ClosedRange<Int>
    ) -> Generator where Value == [Key: Element] {
        Generator { choices in
            try choices.span { choices in
                var dictionary: [Key: Element] = [:]
                try choices.repeating(count) { choices in
                    let key = try choices.span(keys.generate)
                    let value = try choices.span(values.generate)
                    guard dictionary[key] == nil else { return false }
                    dictionary[key] = value
                    return true
                }
                return dictionary
            }
        }
    }
}
