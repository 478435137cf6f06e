// A combination with a failure is the leftmost failure. Otherwise it is loading if any part is,
// otherwise not asked if any part is, otherwise a success (U5).

extension RemoteData {
    /// Returns the parts' values as a tuple: the leftmost failure if a part has failed, otherwise
    /// loading if a part is, otherwise not asked if a part is (U5).
    ///
    /// ```swift
    /// let page = RemoteData.zip(author, posts, likes)
    /// ```
    ///
    /// A zip of no parts is a success.
    public static func zip<each Part>(
        _ parts: repeat RemoteData<each Part, Failure>
    ) -> RemoteData where Value == (repeat each Part) {
        var combination = Combination<Failure>()
        for part in repeat each parts { combination.add(part) }
        return combination.state.map { _ in (repeat (each parts).loaded) }
    }

    /// Returns the result of `transform` for both values; without a value, as ``zip(_:)`` (U5).
    ///
    /// Calls `transform` only if both parts are successes.
    ///
    /// - Throws: the error of `transform`.
    public static func map2<A, B, E: Error>(
        _ first: RemoteData<A, Failure>, _ second: RemoteData<B, Failure>,
        _ transform: (A, B) throws(E) -> Value
    ) throws(E) -> RemoteData {
        try RemoteData<(A, B), Failure>.zip(first, second).map { values throws(E) in
            try transform(values.0, values.1)
        }
    }

    /// Returns the result of `transform` for all three values; without a value, as ``zip(_:)``
    /// (U5).
    ///
    /// Calls `transform` only if all parts are successes.
    ///
    /// - Throws: the error of `transform`.
    public static func map3<A, B, C, E: Error>(
        _ first: RemoteData<A, Failure>, _ second: RemoteData<B, Failure>,
        _ third: RemoteData<C, Failure>, _ transform: (A, B, C) throws(E) -> Value
    ) throws(E) -> RemoteData {
        try RemoteData<(A, B, C), Failure>.zip(first, second, third).map { values throws(E) in
            try transform(values.0, values.1, values.2)
        }
    }

    /// Returns the result of this function for the argument. Without a result, as ``zip(_:)``; the
    /// function counts as the left part (U5).
    ///
    /// ```swift
    /// RemoteData(value: Page.init).andMap(content)
    /// ```
    ///
    /// It is not the same as `flatMap { f in argument.map(f) }`: a loading function with a failed
    /// argument is a failure here, and loading there.
    ///
    /// - Throws: the error of the function.
    public func andMap<Argument, New, E: Error>(
        _ argument: RemoteData<Argument, Failure>
    ) throws(E) -> RemoteData<New, Failure> where Value == (Argument) throws(E) -> New {
        try RemoteData<(Value, Argument), Failure>.zip(self, argument).map { values throws(E) in
            try values.0(values.1)
        }
    }

    /// The value of a part of a combination that is a success.
    fileprivate var loaded: Value {
        guard case .success(let value) = self else {
            preconditionFailure("a part of a successful combination is \(self)")
        }
        return value
    }
}

extension Array {
    /// Returns the elements' values, in order; without a value, as ``RemoteData/zip(_:)`` (U5). An
    /// empty array is a success.
    ///
    /// - Complexity: O(n) in the elements.
    public func sequenced<Value, Failure>() -> RemoteData<[Value], Failure>
    where Element == RemoteData<Value, Failure> {
        var combination = Combination<Failure>()
        for part in self { combination.add(part) }
        return combination.state.map { _ in map(\.loaded) }
    }

    /// Returns the values of the elements' data, in order: `map(transform).sequenced()`.
    ///
    /// - Parameter transform: called once for each element, in order, also after a failure.
    /// - Throws: the first error of `transform`.
    /// - Complexity: O(n) in the elements.
    public func traverse<Value, Failure, E: Error>(
        _ transform: (Element) throws(E) -> RemoteData<Value, Failure>
    ) throws(E) -> RemoteData<[Value], Failure> {
        try map(transform).sequenced()
    }
}

extension Dictionary {
    /// Returns the values' values, by the same keys; without a value, as ``RemoteData/zip(_:)``
    /// (U5). An empty dictionary is a success.
    ///
    /// A dictionary has no order. If several values have failed, the result is any of their
    /// failures.
    ///
    /// - Complexity: O(n) in the values.
    public func sequenced<Loaded, Failure>() -> RemoteData<[Key: Loaded], Failure>
    where Value == RemoteData<Loaded, Failure> {
        var combination = Combination<Failure>()
        for part in values { combination.add(part) }
        return combination.state.map { _ in mapValues(\.loaded) }
    }

    /// Returns the values of the values' data, by the same keys: `mapValues(transform).sequenced()`.
    ///
    /// - Parameter transform: called once for each value, in any order, also after a failure.
    /// - Throws: the first error of `transform`.
    /// - Complexity: O(n) in the values.
    public func traverse<Loaded, Failure, E: Error>(
        _ transform: (Value) throws(E) -> RemoteData<Loaded, Failure>
    ) throws(E) -> RemoteData<[Key: Loaded], Failure> {
        var parts: [Key: RemoteData<Loaded, Failure>] = [:]
        for (key, value) in self { parts[key] = try transform(value) }
        return parts.sequenced()
    }
}

/// The state of a combination, which takes its parts from left to right (U5).
private struct Combination<Failure: Error> {
    private(set) var state = RemoteData<Void, Failure>.success(())

    mutating func add<Part>(_ part: RemoteData<Part, Failure>) {
        switch (state, part) {
        case (.failure, _), (_, .success): break
        case (_, .failure(let failure)): state = .failure(failure)  // mutant: failure-first
        case (.loading, _): break
        case (_, .loading): state = .loading
        case (_, .notAsked): state = .notAsked
        }
    }
}
