import Foldback
import Synchronization

/// An authority without a network, for previews, tests and simulations: it decides by folding events
/// with the projection's own code, and keeps A1 to A3.
///
/// ```swift
/// let authority = InProcessAuthority(Likes.self)
/// let outbox = Outbox(store, to: authority, policy: .ordered)
/// let downlink = Downlink(store, from: authority, policy: .ordered)
/// ```
///
/// Many replicas may share one. An event that throws is refused; so is one that a closure of the app's
/// refuses, and the closure may put other words in its place. All replicas see everything.
public final class InProcessAuthority<P: Projection>: Authority {
    public typealias Event = P.Event

    /// What the app says of an intent, before it is folded.
    public enum Ruling: Sendable {
        case accept
        /// Accepts it in other words.
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
    ///   - projection: decides by its `apply`.
    ///   - eventsPerPageMax: what ``changes(after:)`` brings at once; 1 or more.
    ///   - ruling: is given the present state. Must not call the authority.
    public init(
        _ projection: P.Type, eventsPerPageMax: Int = 256,
        ruling: @escaping @Sendable (Submission<P.Event>, P) -> Ruling = { _, _ in .accept }
    ) {
        precondition(eventsPerPageMax >= 1, "pages of \(eventsPerPageMax) events")
        self.eventsPerPageMax = eventsPerPageMax
        self.ruling = ruling
    }

    /// The fold of all events, as every replica's confirmed state will be.
    public var state: P { books.withLock { $0.state } }

    /// All confirmed events, by position.
    public var events: [ConfirmedEvent<P.Event>] { books.withLock { $0.events } }

    /// How many intents were decided on.
    public var decidedCount: Int { books.withLock { $0.decided.count } }

    /// What was decided on an intent; nil where it never came.
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
            // Positions count from 1 without gaps here.
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
                        code: "id-reused", message: "\(intent.id) came with another event before"))
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
