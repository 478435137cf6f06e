extension Generator {
    /// Values that `make` makes from parts: a case of an enum, an initializer, a closure.
    ///
    /// A case with labels can be named without them if no other case has its name:
    /// `.making(Event.posted, .strings())`.
    public static func making<each Part>(
        _ make: @escaping @Sendable (repeat each Part) -> Value,
        _ parts: repeat Generator<each Part>
    ) -> Generator {
        Generator { choices in
            make(repeat try choices.span((each parts).generate))
        }
    }

    /// Values of one of several generators, all equally likely. Earlier generators are simpler.
    public static func oneOf(_ alternatives: Generator...) -> Generator { oneOf(alternatives) }

    /// Values of one of several generators, all equally likely. Earlier generators are simpler.
    ///
    /// - Precondition: there is at least one generator.
    public static func oneOf(_ alternatives: [Generator]) -> Generator {
        precondition(!alternatives.isEmpty, "oneOf needs a generator")
        return chosen(among: alternatives, .uniform)
    }

    /// Values of one of several generators by weight. Earlier generators are simpler, whatever
    /// their weights.
    ///
    /// - Parameter alternatives: weights from 0 up; not all of them 0.
    public static func weighted(_ alternatives: (weight: Int, generator: Generator)...) -> Generator
    {
        precondition(
            alternatives.allSatisfy { $0.weight >= 0 } && alternatives.contains { $0.weight > 0 },
            "weights \(alternatives.map(\.weight))")
        return chosen(
            among: alternatives.map(\.generator),
            .weights(alternatives.map { UInt64($0.weight) }))
    }

    private static func chosen(among alternatives: [Generator], _ bias: Choices.Bias) -> Generator {
        Generator { choices in
            try choices.span { choices in
                let index = choices.draw(upTo: UInt64(alternatives.count - 1), bias)
                return try alternatives[Int(index)].generate(from: &choices)
            }
        }
    }

    /// Values that contain values of the same type, such as trees.
    ///
    /// ```swift
    /// let events = Generator<Event>.recursive(depthMax: 3, .constant(.cleared)) { event in
    ///     .making(Event.all, .arrays(of: event, count: 0...4))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - depthMax: how many values at most contain one value; from 0 up.
    ///   - leaf: values that contain no others, the simplest; at least half of all values.
    ///   - branch: values that contain values of the given generator.
    public static func recursive(
        depthMax: Int, _ leaf: Generator, _ branch: (Generator) -> Generator
    ) -> Generator {
        precondition(depthMax >= 0, "a depth of \(depthMax)")
        // All levels draw in the same way, so shrinking can replace a level by an inner level.
        return (0..<depthMax).reduce(oneOf(leaf)) { inner, _ in oneOf(leaf, branch(inner)) }
    }
}
