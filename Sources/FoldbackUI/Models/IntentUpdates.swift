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
///
/// `View` is the projection. For a ``RowsModel``, it is `Void`, because its selections have the rows.
public struct IntentUpdates<View: Sendable>: AsyncSequence, Sendable {
    /// Adopts everything that is committed, and returns what the model shows.
    typealias Adopt = @MainActor @Sendable () async -> (view: View, revision: LogSequence)

    private let states: IntentCursor
    private let adopt: Adopt

    init(_ core: StoreCore, _ id: IntentID, adopt: @escaping Adopt) {
        states = IntentCursor(core, id)
        self.adopt = adopt
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(states: states, adopt: adopt)
    }

    /// A reader of the updates.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var states: IntentCursor
        fileprivate let adopt: Adopt

        /// Returns the next update. Nil after the intent is settled, or if the task is canceled.
        public mutating func next() async -> IntentUpdate<View>? { await next(isolation: nil) }

        /// Returns the next update, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> IntentUpdate<View>? {
            guard let data = await states.next(isolation: actor) else { return nil }
            let shown = await adopt()
            return IntentUpdate(shown: shown.view, revision: shown.revision, data: data)
        }
    }
}

/// The state of an intent, with what the model shows.
public struct IntentUpdate<View: Sendable>: Sendable {
    fileprivate let shown: View
    /// The last entry that the model includes: the state's entry or later. The marks, the view and the
    /// selections of the model are of this entry or later.
    public let revision: LogSequence
    /// Loading until the intent is settled.
    public let data: RemoteData<Answer, IntentFailure>
}

extension IntentUpdate where View: Projection {
    /// The view at the state's entry or later.
    public var view: View { shown }
}

/// Reads the states of an intent, from the present state to the state that settles it.
struct IntentCursor: Sendable {
    private let core: StoreCore
    private let id: IntentID
    /// The state that was read last.
    private var last: IntentState?
    private var isOver = false

    init(_ core: StoreCore, _ id: IntentID) { (self.core, self.id) = (core, id) }

    /// Returns the next state, or waits for it. Nil after the last state, or if the task is canceled.
    mutating func next(
        isolation actor: isolated (any Actor)?
    ) async -> RemoteData<Answer, IntentFailure>? {
        guard !isOver, !Task.isCancelled else { return nil }
        do throws(LogError) {
            let known = try await core.intent(id.number, after: last)
            guard known.id == id else { throw .unknownIntent(id.number) }
            last = known.state
            isOver = known.state.isSettled
            return known.data
        } catch .cancelled {
            return nil
        } catch {
            isOver = true
            return .failure(.store(.log(error)))
        }
    }
}
