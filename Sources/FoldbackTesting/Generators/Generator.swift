/// Makes values of a type from choices.
///
/// Generators are made out of others. One line per case makes one for an app's events:
/// ```swift
/// let events = Generator<Event>.oneOf(
///     .making(Event.posted, .strings()),
///     .making(Event.commented, .strings(), .integers(in: 1...5)),
///     .constant(.cleared))
/// ```
/// What fails in a test shrinks by its choices, so no generator needs a shrinking function, and values
/// that were mapped, filtered or drawn one by another stay what their generator can make. To shrink
/// well, let the first alternative be the simplest, and draw what a value needs in its own
/// ``Choices/span(_:)``.
public struct Generator<Value>: Sendable {
    private let make: @Sendable (inout Choices) throws -> Value

    /// - Parameter generate: gives the same value for the same choices: no clock, no other randomness.
    ///   It must end for any choices, for a sequence of zeros as well, and must not trap.
    public init(_ generate: @escaping @Sendable (inout Choices) throws -> Value) {
        make = generate
    }

    /// The value for what is drawn from `choices`.
    ///
    /// - Throws: ``Discarded`` where a filter found nothing: no value, and no failure of what is tested.
    public func generate(from choices: inout Choices) throws -> Value { try make(&choices) }

    /// The value of a seed, the same each time: for a look at what a generator makes.
    ///
    /// - Throws: ``Discarded``, as ``generate(from:)``; another seed may have a value.
    public func value(seed: UInt64) throws -> Value {
        var choices = Choices(seed: seed)
        return try generate(from: &choices)
    }
}

/// A generator gave no value: a filter refused all that was tried.
public struct Discarded: Error, Hashable, Sendable {
    public init() {}
}

extension Generator {
    public func map<New>(_ transform: @escaping @Sendable (Value) -> New) -> Generator<New> {
        Generator<New> { transform(try generate(from: &$0)) }
    }

    /// A value that depends on another one: an index after the list, a list after its length.
    public func flatMap<New>(
        _ transform: @escaping @Sendable (Value) -> Generator<New>
    ) -> Generator<New> {
        Generator<New> { choices in
            let value = try choices.span(make)
            return try choices.span(transform(value).make)
        }
    }

    /// The values that `isIncluded` lets pass.
    ///
    /// Draws up to 32 times and then gives up, so it should let at least every fifth value pass; rarer
    /// ones are better made than found.
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
    /// Always this one.
    public static func constant(_ value: Value) -> Generator { Generator { _ in value } }

    /// One of these, which must not be none. The earlier, the simpler.
    public static func element(of values: [Value]) -> Generator {
        precondition(!values.isEmpty, "one of no values")
        return Generator { choices in
            values[Int(choices.draw(upTo: UInt64(values.count - 1), .uniform))]
        }
    }
}

extension Generator where Value: CaseIterable & Sendable, Value.AllCases == [Value] {
    /// One of all cases. The earlier, the simpler.
    public static func cases() -> Generator { .element(of: Value.allCases) }
}
