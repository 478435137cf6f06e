extension Generator {
    /// Whatever `make` makes out of the parts: a case of an enum, an initializer, a closure.
    ///
    /// A case with labels is named without them where it is the only one of its name:
    /// `.making(Event.posted, .strings())`.
    public static func making<each Part>(
        _ make: @escaping @Sendable (repeat each Part) -> Value,
        _ parts: repeat Generator<each Part>
    ) -> Generator {
        Generator { choices in
            make(repeat try choices.span((each parts).generate))
        }
    }

    /// One of these, all alike. The earlier, the simpler.
    public static func oneOf(_ alternatives: Generator...) -> Generator { oneOf(alternatives) }

    /// One of these, which must not be none, all alike. The earlier, the simpler.
    public static func oneOf(_ alternatives: [Generator]) -> Generator {
        precondition(!alternatives.isEmpty, "one of no generators")
        return chosen(among: alternatives, .uniform)
    }

    /// One of these, each as often as its weight says. The earlier, the simpler, whatever it weighs.
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

    /// Values that contain others of their type, such as trees.
    ///
    /// ```swift
    /// let events = Generator<Event>.recursive(depthMax: 3, .constant(.cleared)) { event in
    ///     .making(Event.all, .arrays(of: event, count: 0...4))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - depthMax: how many values at most lie around one; from 0 up.
    ///   - leaf: values that contain no others, the simplest; at least every second value is one.
    ///   - branch: a value around others, which the generator that it is given makes.
    public static func recursive(
        depthMax: Int, _ leaf: Generator, _ branch: (Generator) -> Generator
    ) -> Generator {
        precondition(depthMax >= 0, "a depth of \(depthMax)")
        // All levels draw alike, so that shrinking can put one in the place of another.
        return (0..<depthMax).reduce(oneOf(leaf)) { inner, _ in oneOf(leaf, branch(inner)) }
    }
}
