/// The error of a generator without a value: a filter refused every try.
public struct Discarded: Error, Hashable, Sendable {
    public init() {}
}
