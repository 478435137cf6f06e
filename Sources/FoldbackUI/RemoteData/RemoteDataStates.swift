extension RemoteData {
    /// Creates the data of a request, once it has finished.
    ///
    /// The error of a canceled task is a failure like others.
    ///
    /// - Parameter fetch: runs on the caller's actor.
    public nonisolated(nonsending) init(
        catching fetch: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async {
        do throws(Failure) {
            self = .success(try await fetch())
        } catch {
            self = .failure(error)
        }
    }
}

extension RemoteData where Value: Sendable {
    /// Returns the states of a request: loading, then its answer.
    ///
    /// - Parameter fetch: begins after `loading` was delivered, when the reader asks for the next
    ///   state. It runs in the reader's task, and once for each reader.
    public static func states(
        of fetch: @escaping @Sendable () async throws(Failure) -> Value
    ) -> RemoteDataStates<Value, Failure> {
        RemoteDataStates(fetch)
    }
}

/// The states of a request: loading, then its answer.
///
/// ```swift
/// for await state in RemoteData.states(of: { try await server.menu() }) { menu = state }
/// ```
///
/// Each reader runs the request once. If its task is canceled, the request decides what to answer.
/// A view that asks more than once needs ``FetchState``, which ignores the answers of superseded
/// requests.
public struct RemoteDataStates<Value: Sendable, FetchFailure: Error>: AsyncSequence, Sendable {
    /// The state of the request.
    public typealias Element = RemoteData<Value, FetchFailure>
    /// The sequence does not throw. The request's failure is a state.
    public typealias Failure = Never

    private let fetch: @Sendable () async throws(FetchFailure) -> Value

    fileprivate init(_ fetch: @escaping @Sendable () async throws(FetchFailure) -> Value) {
        self.fetch = fetch
    }

    /// A reader of the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Next { case loading, answer, end }

        private let fetch: @Sendable () async throws(FetchFailure) -> Value
        private var upcoming = Next.loading

        fileprivate init(_ fetch: @escaping @Sendable () async throws(FetchFailure) -> Value) {
            self.fetch = fetch
        }

        /// Returns loading, then the answer, then nil.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Returns the next state, on the given actor. As ``next()`` in everything else.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch upcoming {
            case .loading:
                upcoming = .answer
                return .loading
            case .answer:
                upcoming = .end
                return await RemoteData(catching: fetch)
            case .end: return nil
            }
        }
    }

    /// Returns a reader that begins with loading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(fetch) }
}
