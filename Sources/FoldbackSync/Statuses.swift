import Foldback

/// The states of an outbox, a downlink or a sync, one after another: the current state first, then
/// the latest state after each change.
///
/// ```swift
/// for await status in downlink.statuses { banner.show(status) }
/// ```
///
/// An element is read when it is requested. So once a call has returned (``Downlink/tell(_:)``, ``Downlink/fetch()``, or a command of the store like
/// ``/Foldback/Store/record(_:force:confirmOnly:once:replacing:held:info:)``), the next element that is requested
/// includes the effect of that call. A slow reader gets the latest state and
/// misses those in between. Equal states are not repeated.
///
/// The sequence ends when the store is closed or the task is canceled.
public struct Statuses<Status: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Status

    private let current: @Sendable () -> Status
    private let areSame: @Sendable (Status, Status) -> Bool
    private let listen: @Sendable (@escaping @Sendable (_ isClosed: Bool) -> Void) -> [Listening]

    /// - Parameters:
    ///   - areSame: whether the second state is left out after the first.
    ///   - listen: reports each change, until the returned values are released.
    ///   - current: returns the current state.
    init(
        areSame: @escaping @Sendable (Status, Status) -> Bool,
        listen:
            @escaping @Sendable (
                @escaping @Sendable (_ isClosed: Bool) -> Void
            ) -> [Listening],
        current: @escaping @Sendable () -> Status
    ) {
        self.current = current
        self.areSame = areSame
        self.listen = listen
    }

    /// - Parameters:
    ///   - current: returns the current state.
    ///   - changes: reports changes of the outbox or downlink itself.
    ///   - store: reports commits, which change the state too.
    init<P>(
        of store: Store<P>, _ changes: Signal, current: @escaping @Sendable () -> Status
    ) where Status: Equatable {
        self.init(
            areSame: { $0 == $1 },
            listen: { listener in
                [changes.listen { listener(false) }, store.listen(listener)]
            }, current: current)
    }

    /// A reader of the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let current: @Sendable () -> Status
        private let areSame: @Sendable (Status, Status) -> Bool
        private let listening: [Listening]
        private var bell: AsyncStream<Void>.Iterator
        private var last: Status?
        private var isOver = false

        fileprivate init(
            _ current: @escaping @Sendable () -> Status,
            _ areSame: @escaping @Sendable (Status, Status) -> Bool, _ bell: AsyncStream<Void>,
            _ listening: [Listening]
        ) {
            self.current = current
            self.areSame = areSame
            self.bell = bell.makeAsyncIterator()
            self.listening = listening
        }

        /// Returns the current state if it differs from the last element, or else waits for another
        /// state. Nil if the store is closed or the task is canceled.
        public mutating func next() async -> Status? { await next(isolation: nil) }

        /// Returns the next state, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> Status? {
            while !isOver, !Task.isCancelled {
                let status = current()
                if !(last.map { areSame($0, status) } ?? false) {
                    last = status
                    return status
                }
                isOver = await bell.next(isolation: actor) == nil
            }
            return nil
        }
    }

    /// Returns an iterator that begins with the current state.
    public func makeAsyncIterator() -> AsyncIterator {
        let (bell, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listening = listen { isClosed in
            if isClosed { continuation.finish() } else { continuation.yield() }
        }
        return AsyncIterator(current, areSame, bell, listening)
    }
}
