import Foldback

/// What becomes of one intent, with the view at each step; see
/// ``OptimisticModel/updates(of:)``.
///
/// ```swift
/// for await update in model.updates(of: receipt) {
///     switch update.data {
///     case .notAsked, .loading: break  // predicted: the view has the effect
///     case .success: confirm()
///     case .failure(let failure): explain(failure)  // the view is without the effect
///     }
/// }
/// ```
///
/// The first element is the present state. The last has the answer that settles the intent, with a
/// view at that answer or later (U27). An intent without an answer waits, maybe for days, and also
/// after a restart. The sequence also ends if the task is canceled. It keeps its model and the store.
public struct IntentUpdates<P: Projection>: AsyncSequence, Sendable {
    private let model: OptimisticModel<P>
    private let core: StoreCore
    private let id: IntentID

    init(model: OptimisticModel<P>, core: StoreCore, _ id: IntentID) {
        (self.model, self.core, self.id) = (model, core, id)
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: self) }

    /// A reader of the updates.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let updates: IntentUpdates
        /// The state of the last element.
        private var last: IntentState?
        private var isOver = false

        fileprivate init(updates: IntentUpdates) { self.updates = updates }

        /// Returns the next update. Nil after the intent is settled, or if the task is canceled.
        public mutating func next() async -> IntentUpdate<P>? { await next(isolation: nil) }

        /// Returns the next update, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> IntentUpdate<P>? {
            guard !isOver, !Task.isCancelled else { return nil }
            let known: KnownIntent
            do throws(FoldbackError) {
                known = try await updates.core.intent(updates.id.number, after: last)
                guard known.recorded.id == updates.id else {
                    throw .unknownIntent(updates.id.number)
                }
            } catch .cancelled {
                return nil
            } catch {
                isOver = true
                return IntentUpdate(
                    view: await updates.model.adoptedView(), data: .failure(.store(error)))
            }
            last = known.state
            isOver = known.state.isSettled
            return IntentUpdate(view: await updates.model.adoptedView(), data: known.data)
        }
    }
}

/// The state of an intent, and a view that has it.
public struct IntentUpdate<P: Sendable>: Sendable {
    /// The view at the state's entry or later.
    public let view: P
    /// Loading until the intent is settled.
    public let data: RemoteData<Answer, IntentFailure>
}

/// Why an intent has no effect.
public enum IntentFailure: Error, Sendable {
    /// The server refused it.
    case rejected(Rejection)
    /// The app took it back.
    case withdrawn
    /// The log cannot be read. What becomes of the intent is unknown here.
    case store(FoldbackError)

    public var description: String {
        switch self {
        case .rejected(let rejection): rejection.message
        case .withdrawn: "the change was taken back"
        case .store(let error): "\(error)"
        }
    }
}

extension KnownIntent {
    /// Loading until the intent is settled.
    var data: RemoteData<Answer, IntentFailure> {
        switch state {
        case .pending, .accepted: .loading
        case .confirmed: RemoteData(answer, or: .withdrawn)
        case .rejected: .failure(.rejected(rejection ?? Rejection(message: "")))
        case .withdrawn: .failure(.withdrawn)
        }
    }
}
