import Foldback

/// Fetches an authority's confirmed events into a store, page by page.
///
/// The app decides when to fetch: at its start, after a push message, or at intervals. If the
/// server pushes the events themselves, the app calls ``/Foldback/Store/confirm(_:through:)`` with
/// them. Then it needs a downlink only to catch up.
public struct Downlink<P: EventFold>: Sendable {
    /// The result of ``fetch()``.
    @nonexhaustive
    public enum FetchResult: Hashable, Sendable {
        /// The log has all events of the authority up to this position.
        case caughtUp(through: Position)
        /// A retry would not help: no user is signed in, or the answer cannot be used.
        case failed(AuthorityFailure)
        /// The task was canceled, or the store was closed. The log has the events that came before.
        case stopped
    }

    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let policy: OutboxPolicy
    private let sources: SyncSources

    /// - Parameters:
    ///   - store: the store that receives the events.
    ///   - authority: the authority to ask.
    ///   - policy: the waits between attempts. Its other limits are for an outbox.
    ///   - sources: the sources of time and randomness.
    public init(
        _ store: Store<P>, from authority: any Authority<P.Event>, policy: OutboxPolicy,
        sources: SyncSources = .system
    ) {
        self.store = store
        self.authority = authority
        self.policy = policy
        self.sources = sources
    }

    /// Fetches the events after `through`, until the authority has no more.
    ///
    /// If the authority cannot be reached, this retries with backoff and without limit. Cancel the
    /// task to stop it. In a log that is confirmed by acknowledgements, there is nothing to fetch:
    /// this returns `.caughtUp` and sends no request (F2).
    /// - Throws: as ``/Foldback/Store/confirm(_:through:)`` does. The log has the events that came
    ///   before.
    public func fetch() async throws(FoldbackError) -> FetchResult {
        guard store.status.kind == .downlink else {
            return .caughtUp(through: store.status.through)
        }
        var failures = 0
        while !Task.isCancelled {
            let changes: Changes<P.Event>
            do throws(AuthorityFailure) {
                changes = try await page(after: store.status.through)
            } catch {
                failures += 1
                guard let delay = delay(after: error, failures) else { return .failed(error) }
                await sources.sleep(delay)
                continue
            }
            failures = 0
            do throws(FoldbackError) {
                try await store.confirm(
                    changes.events,
                    through: changes.through)  // mutant: downlink-through
            } catch {
                switch error {
                case .closed, .cancelled: return .stopped
                case .invalidBatch, .tooLarge, .notEncodable:
                    return .failed(.invalidAnswer(reason: "\(error)"))
                default: throw error
                }
            }
            if !changes.hasMore { return .caughtUp(through: changes.through) }  // mutant: last-page
        }
        return .stopped
    }

    /// Returns the page after `position`. A page that promises more but does not move `through` is
    /// an error, because fetching would never end.
    private func page(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<P.Event> {
        let changes = try await authority.changes(after: position)
        guard !changes.hasMore || changes.through > position else {
            throw .invalidAnswer(
                reason: "there is more after \(position), but this page has none of it")
        }
        return changes
    }

    /// Returns the wait before a retry; nil if a retry would not help.
    private func delay(after failure: AuthorityFailure, _ failures: Int) -> Duration? {
        let backoff = policy.backoff(after: failures, jitter: sources.jitter())
        switch failure {
        case .unreachable: return backoff
        case .unavailable(let after, _): return min(max(after ?? backoff, .zero), policy.delayMax)
        case .unauthenticated, .invalidAnswer: return nil
        }
    }
}
