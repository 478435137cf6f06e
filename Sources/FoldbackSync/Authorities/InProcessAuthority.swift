import Foldback
import Synchronization

/// An authority without a network, for previews, tests and simulations.
///
/// It folds events with the projection's own code to decide on them, and keeps A1 to A3.
///
/// ```swift
/// let authority = InProcessAuthority(Likes.self)
/// let outbox = Outbox(store, to: authority, policy: .ordered)
/// let downlink = Downlink(store, from: authority, policy: .ordered)
/// ```
///
/// Several replicas can share one authority, and all replicas see all events. The authority rejects
/// an event if `apply` throws, or if the app's `ruling` closure rejects it. The closure can also
/// replace the event. Calls may come from any task.
public final class InProcessAuthority<P: Projection>: Authority {
    public typealias Event = P.Event

    /// The app's decision on an intent, before the authority folds the event.
    public enum Ruling: Sendable {
        case accept
        /// Accepts the intent, with this event in place of its own.
        case reword(P.Event)
        case reject(Rejection)
    }

    private struct Decided {
        let bytes: [UInt8]
        let verdict: Verdict<P.Event>
    }

    private struct Books {
        var state = P()
        var events: [ConfirmedEvent<P.Event>] = []
        var decided: [IntentID: Decided] = [:]

        var position: Position { events.last?.position ?? 0 }
    }

    private let books = Mutex(Books())
    private let eventsPerPageMax: Int
    private let ruling: @Sendable (Submission<P.Event>, P) -> Ruling

    /// - Parameters:
    ///   - projection: the projection whose `apply` accepts or rejects events.
    ///   - eventsPerPageMax: the largest number of events in a page of ``changes(after:)``; 1 or
    ///     more.
    ///   - ruling: decides on an intent, given the current state. It runs under a lock, so it must
    ///     not call the authority.
    public init(
        _ projection: P.Type, eventsPerPageMax: Int = 256,
        ruling: @escaping @Sendable (Submission<P.Event>, P) -> Ruling = { _, _ in .accept }
    ) {
        precondition(
            eventsPerPageMax >= 1, "eventsPerPageMax must be at least 1, not \(eventsPerPageMax)")
        self.eventsPerPageMax = eventsPerPageMax
        self.ruling = ruling
    }

    /// The fold of all events. A replica that has fetched everything has this confirmed state.
    public var state: P { books.withLock { $0.state } }

    /// All confirmed events, in order of position.
    public var events: [ConfirmedEvent<P.Event>] { books.withLock { $0.events } }

    /// The number of intents with a verdict.
    public var decidedCount: Int { books.withLock { $0.decided.count } }

    /// Returns the verdict on an intent; nil if the intent never arrived.
    public func verdict(on intent: IntentID) -> Verdict<P.Event>? {
        books.withLock { $0.decided[intent]?.verdict }
    }

    public func submit(
        _ intents: [Submission<P.Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<P.Event>] {
        var verdicts: [IntentID: Verdict<P.Event>] = [:]
        for intent in intents {
            let bytes: [UInt8]
            do { bytes = try P.codec.encode(intent.event) } catch {
                throw .invalidAnswer(reason: "intent \(intent.id) cannot be encoded: \(error)")
            }
            verdicts[intent.id] = books.withLock { verdict(on: intent, bytes, &$0) }
        }
        return verdicts
    }

    public func changes(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<P.Event> {
        books.withLock { books in
            // This authority's positions count from 1 without gaps, so a position is an index.
            let start = Int(clamping: position.value)
            guard start < books.events.count else {
                return Changes(events: [], through: max(position, books.position), hasMore: false)
            }
            let page = Array(books.events[start...].prefix(eventsPerPageMax))
            let through = page.last?.position ?? position
            return Changes(events: page, through: through, hasMore: through < books.position)
        }
    }

    private func verdict(
        on intent: Submission<P.Event>, _ bytes: [UInt8], _ books: inout Books
    ) -> Verdict<P.Event> {
        if let decided = books.decided[intent.id] {  // mutant: authority-repeats
            guard decided.bytes == bytes else {
                return .rejected(
                    Rejection(
                        code: "id-reused",
                        message: "intent \(intent.id) arrived earlier with a different event"))
            }
            return decided.verdict
        }
        let verdict = decide(intent, &books)
        books.decided[intent.id] = Decided(bytes: bytes, verdict: verdict)  // mutant: verdict-kept
        return verdict
    }

    private func decide(
        _ intent: Submission<P.Event>, _ books: inout Books
    ) -> Verdict<P.Event> {
        let replacement: P.Event?
        switch ruling(intent, books.state) {
        case .accept: replacement = nil
        case .reword(let event): replacement = event
        case .reject(let rejection): return .rejected(rejection)
        }
        let event = ConfirmedEvent(
            position: Position(books.position.value + 1), event: replacement ?? intent.event,
            origin: intent.id)
        var state = books.state
        do { try state.apply(event.event, event.context) } catch {
            return .rejected(Rejection(code: "inapplicable", message: "\(error)"))
        }
        books.state = state
        books.events.append(event)
        return .accepted(position: event.position, replacement: replacement)
    }
}
