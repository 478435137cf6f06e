/// Remote data: not asked for, asked for, failed or loaded. Like `Result`, with two states before
/// it.
///
/// ```swift
/// switch menu {
/// case .notAsked, .loading: ProgressView()
/// case .failure(let error): Text(error.localizedDescription)
/// case .success(let dishes) where dishes.isEmpty: Text("The menu is empty")
/// case .success(let dishes): DishList(dishes)
/// }
/// ```
///
/// An empty success is a success: it means that the server has answered. The enum is frozen, so the
/// compiler reports each switch that does not handle a state.
///
/// Do not use this type for data of a store: the view is local and available at once. To show the
/// last value while it is fetched again, use ``FetchState``.
///
/// The functions correspond to those of krisajenkins/remotedata 6.1.0 for Elm.
@frozen public enum RemoteData<Value, Failure: Error> {
    /// Nobody has asked for the data.
    case notAsked
    /// Asked for, and without an answer.
    case loading
    /// The request has failed.
    case failure(Failure)
    /// The request has answered, perhaps with an empty value.
    case success(Value)
}

/// Remote data that can fail in any way. It has no `==`, because `any Error` has none.
public typealias ServerData<Value> = RemoteData<Value, any Error>

extension RemoteData: Sendable where Value: Sendable {}
extension RemoteData: Equatable where Value: Equatable, Failure: Equatable {}
extension RemoteData: Hashable where Value: Hashable, Failure: Hashable {}

extension RemoteData {
    /// Whether nobody has asked for the data.
    public var isNotAsked: Bool {
        if case .notAsked = self { true } else { false }
    }

    /// Whether the data were asked for and have no answer.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// Whether the request has failed.
    public var isFailure: Bool {
        if case .failure = self { true } else { false }
    }

    /// Whether there is a value.
    public var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// The same state as data that was read from a disk: nobody waits for an answer after a
    /// restart, so loading becomes not asked (U7).
    public var restored: RemoteData { isLoading ? .notAsked : self }
}
