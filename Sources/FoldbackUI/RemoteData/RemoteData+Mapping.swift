extension RemoteData {
    /// Returns the data with another value.
    ///
    /// - Parameter transform: called only for a success.
    /// - Throws: the error of `transform`.
    public func map<New, E: Error>(
        _ transform: (Value) throws(E) -> New
    ) throws(E) -> RemoteData<New, Failure> {
        switch self {
        case .notAsked: .notAsked
        case .loading: .loading
        case .failure(let failure): .failure(failure)
        case .success(let value): .success(try transform(value))
        }
    }

    /// Returns the data with another failure.
    ///
    /// - Parameter transform: called only for a failure.
    /// - Throws: the error of `transform`.
    public func mapError<New: Error, E: Error>(
        _ transform: (Failure) throws(E) -> New
    ) throws(E) -> RemoteData<Value, New> {
        switch self {
        case .notAsked: .notAsked
        case .loading: .loading
        case .failure(let failure): .failure(try transform(failure))
        case .success(let value): .success(value)
        }
    }

    /// Returns the data with another value and another failure.
    ///
    /// - Throws: the error of the closure that was called.
    public func mapBoth<New, NewFailure: Error, E: Error>(
        success transform: (Value) throws(E) -> New,
        failure transformFailure: (Failure) throws(E) -> NewFailure
    ) throws(E) -> RemoteData<New, NewFailure> {
        switch self {
        case .notAsked: .notAsked
        case .loading: .loading
        case .failure(let failure): .failure(try transformFailure(failure))
        case .success(let value): .success(try transform(value))
        }
    }

    /// Returns the data that depend on this value; without a value, the same state.
    ///
    /// ``andMap(_:)`` cannot be written with this function: if this is loading and the other data
    /// have failed, `flatMap` never sees the failure, and the result is loading (U5).
    ///
    /// - Parameter transform: called only for a success.
    /// - Throws: the error of `transform`.
    public func flatMap<New, E: Error>(
        _ transform: (Value) throws(E) -> RemoteData<New, Failure>
    ) throws(E) -> RemoteData<New, Failure> {
        switch self {
        case .notAsked: .notAsked
        case .loading: .loading
        case .failure(let failure): .failure(failure)
        case .success(let value): try transform(value)
        }
    }

    /// Returns the data that replace this failure; the same state if there is none.
    ///
    /// - Parameter transform: called only for a failure.
    /// - Throws: the error of `transform`.
    public func flatMapError<New: Error, E: Error>(
        _ transform: (Failure) throws(E) -> RemoteData<Value, New>
    ) throws(E) -> RemoteData<Value, New> {
        switch self {
        case .notAsked: .notAsked
        case .loading: .loading
        case .failure(let failure): try transform(failure)
        case .success(let value): .success(value)
        }
    }
}

// MARK: Leaving RemoteData

extension RemoteData {
    /// Returns the value, or `fallback` if there is none.
    ///
    /// - Throws: the error of `fallback`.
    public func value(or fallback: @autoclosure () throws -> Value) rethrows -> Value {
        if case .success(let value) = self { value } else { try fallback() }
    }

    /// Returns the result of `transform` for the value, or `fallback` if there is none.
    ///
    /// - Throws: the error of `transform`.
    public func map<R, E: Error>(
        or fallback: @autoclosure () -> R, _ transform: (Value) throws(E) -> R
    ) throws(E) -> R {
        if case .success(let value) = self { try transform(value) } else { fallback() }
    }

    /// Returns the result of the closure that belongs to the state, such as the state's view.
    ///
    /// - Throws: the error of the closure that was called.
    public func fold<R, E: Error>(
        notAsked: () throws(E) -> R, loading: () throws(E) -> R,
        failure: (Failure) throws(E) -> R, success: (Value) throws(E) -> R
    ) throws(E) -> R {
        switch self {
        case .notAsked: try notAsked()
        case .loading: try loading()
        case .failure(let reason): try failure(reason)
        case .success(let value): try success(value)
        }
    }

    /// Returns the result of the closure that belongs to the state. Data that nobody has asked for
    /// count as loading.
    ///
    /// ```swift
    /// let title = menu.fold(
    ///     loading: { "Loading" }, failure: { _ in "No menu" }, success: { "\($0.count) dishes" })
    /// ```
    ///
    /// - Throws: the error of the closure that was called.
    public func fold<R, E: Error>(
        loading: () throws(E) -> R, failure: (Failure) throws(E) -> R,
        success: (Value) throws(E) -> R
    ) throws(E) -> R {
        try fold(notAsked: loading, loading: loading, failure: failure, success: success)
    }
}
