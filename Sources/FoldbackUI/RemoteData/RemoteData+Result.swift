extension RemoteData {
    /// Creates a success.
    public init(value: Value) { self = .success(value) }

    /// Creates a success of a value, or a failure if it is nil.
    public init(_ value: Value?, or failure: @autoclosure () -> Failure) {
        self = value.map(Self.success) ?? .failure(failure())
    }

    /// Creates the data of a finished request.
    public init(_ result: Result<Value, Failure>) {
        switch result {
        case .failure(let failure): self = .failure(failure)
        case .success(let value): self = .success(value)
        }
    }

    /// Returns the data as a result.
    ///
    /// - Parameter failure: the failure of data without an answer. A failure of the data itself is
    ///   kept.
    public func result(or failure: @autoclosure () -> Failure) -> Result<Value, Failure> {
        switch self {
        case .notAsked, .loading: .failure(failure())
        case .failure(let failure): .failure(failure)
        case .success(let value): .success(value)
        }
    }

    /// Returns the value, as `Result` does. So code that was written for a result compiles.
    ///
    /// - Throws: the `Failure` itself if there is one, so `catch let error as MenuError` finds it,
    ///   or ``NotReady``.
    public func get() throws -> Value {
        switch self {
        case .notAsked: throw NotReady.notAsked
        case .loading: throw NotReady.loading
        case .failure(let failure): throw failure
        case .success(let value): value
        }
    }
}

extension Result {
    /// The result as the data of a finished request.
    public var remoteData: RemoteData<Success, Failure> { RemoteData(self) }
}

/// The state of data without an answer, as the error of ``RemoteData/get()``.
///
/// ```swift
/// do { show(try menu.get()) } catch is NotReady { showSpinner() } catch { show(error) }
/// ```
public enum NotReady: Error, Hashable, Sendable {
    /// ``RemoteData/notAsked``.
    case notAsked
    /// ``RemoteData/loading``.
    case loading

    /// The state in words.
    public var description: String {
        switch self {
        case .notAsked: "the data were not asked for"
        case .loading: "the data are loading"
        }
    }
}
