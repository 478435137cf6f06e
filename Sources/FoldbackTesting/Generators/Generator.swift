/// Generates values of a type from choices.
///
/// Generators are built from others. A generator of an app's events needs one line for each case:
/// ```swift
/// let events = Generator<Event>.oneOf(
///     .making(Event.posted, .strings()),
///     .making(Event.commented, .strings(), .integers(in: 1...5)),
///     .constant(.cleared))
/// ```
/// A failing value shrinks by its choices, so no generator needs a shrinking function, and a
/// smaller value is always a value that its generator can make. To shrink well, put the simplest
/// alternative first, and draw the choices of each value in its own ``Choices/span(_:)``.
public struct Generator<Value>: Sendable {
    private let make: @Sendable (inout Choices) throws -> Value

    /// - Parameter generate: returns the same value for the same choices: no clock, no other
    ///   randomness. It must return for any choices, also for a sequence of zeros, and must not
    ///   trap.
    public init(_ generate: @escaping @Sendable (inout Choices) throws -> Value) {
        make = generate
    }

    /// Draws a value from `choices`.
    ///
    /// - Throws: ``Discarded`` if a filter found no value. That is not a failure of the tested
    ///   code.
    public func generate(from choices: inout Choices) throws -> Value { try make(&choices) }

    /// Returns the value of a seed, the same each time: to see what a generator makes.
    ///
    /// - Throws: ``Discarded``, as ``generate(from:)``; another seed may have a value.
    public func value(seed: UInt64) throws -> Value {
        var choices = Choices(seed: seed)
        return try generate(from: &choices)
    }
}

extension Generator {
    public func map<New>(_ transform: @escaping @Sendable (Value) -> New) -> Generator<New> {
        Generator<New> { transform(try generate(from: &$0)) }
    }

    /// Values that depend on another value: an index on a list, a list on its length.
    public func flatMap<New>(
        _ transform: @escaping @Sendable (Value) -> Generator<New>
    ) -> Generator<New> {
        Generator<New> { choices in
            let value = try choices.span(make)
            return try choices.span(transform(value).make)
        }
    }

    /// The values that `isIncluded` accepts.
    ///
    /// Draws up to 32 times, then throws ``Discarded``. It should accept at least one of five
    /// values; generate rarer values directly.
    public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> Generator {
        Generator { choices in
            for _ in 0..<Choices.triesMax {
                let value = try choices.span(make)
                if isIncluded(value) { return value }
            }
            throw Discarded()
        }
    }
}

extension Generator where Value: Sendable {
    /// Always this value.
    public static func constant(_ value: Value) -> Generator { Generator { _ in value } }

    /// One of these values. Earlier values are simpler.
    ///
    /// - Precondition: there is at least one value.
    public static func element(of values: [Value]) -> Generator {
        precondition(!values.isEmpty, "element(of:) needs a value")
        return Generator { choices in
            values[Int(choices.draw(upTo: UInt64(values.count - 1), .uniform))]
        }
    }
}

extension Generator where Value: CaseIterable & Sendable, Value.AllCases == [Value] {
    /// One of all cases. Earlier cases are simpler.
    public static func cases() -> Generator { .element(of: Value.allCases) }
}
