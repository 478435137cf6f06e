extension Generator {
    /// Optional values. A quarter of them are nil, the simplest.
    public static func optionals<Wrapped>(of wrapped: Generator<Wrapped>) -> Generator
    where Value == Wrapped? {
        .weighted((1, Generator { _ in nil }), (3, wrapped.map(Optional.some)))
    }

    /// Lists. A shorter list is simpler, and so is a sorted list of the same length.
    ///
    /// - Parameters:
    ///   - elements: generates each element.
    ///   - count: how many elements. The average is the middle of the range, but at most five more
    ///     than its lower bound.
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

    /// Dictionaries. A repeated key is left out with its value.
    ///
    /// - Parameters:
    ///   - keys: generates each key.
    ///   - values: generates each value.
    ///   - count: how many keys, as for ``arrays(of:count:)``. Discarded if there are too few
    ///     different keys.
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
