import Foldback

/// Brings an authority's confirmed events into a store, page by page.
///
/// When to ask is the app's to know: at its start, when a push message comes, now and then. An app whose
/// server pushes the events themselves calls ``/Foldback/Store/confirm(_:through:)`` and needs this only to
/// catch up.
public struct Downlink<P: EventFold>: Sendable {
    /// What became of fetching.
    @nonexhaustive
    public enum FetchResult: Hashable, Sendable {
        /// Everything that the authority had is in the log, up to here.
        case caughtUp(through: Position)
        /// Asking again would not help: nobody is signed in, or the answer cannot be used.
        case failed(AuthorityFailure)
        /// The task was cancelled or the store closed; what came is in the log.
        case stopped
    }

    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let policy: OutboxPolicy
    private let sources: SyncSources

    /// - Parameters:
    ///   - store: what the events come into.
    ///   - authority: who is asked.
    ///   - policy: how long to wait between attempts; the rest of it is the outbox's.
    ///   - sources: where time and chance come from.
    public init(
        _ store: Store<P>, from authority: any Authority<P.Event>, policy: OutboxPolicy,
        sources: SyncSources = .system
    ) {
        self.store = store
        self.authority = authority
        self.policy = policy
        self.sources = sources
    }

    /// Asks for what is behind `through`, until there is no more. While the authority is not reached it is
    /// tried again, with backoff; cancel the task to stop.
    ///
    /// In a log that acknowledgements confirm there is nothing to fetch, and nobody is asked (F2).
    /// - Throws: as ``/Foldback/Store/confirm(_:through:)``; what came before is in the log.
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
                guard let delay = delay(behind: error, failures) else { return .failed(error) }
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

    /// A page that says there is more has to bring something, else it would be asked for without end.
    private func page(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<P.Event> {
        let changes = try await authority.changes(after: position)
        guard !changes.hasMore || changes.through > position else {
            throw .invalidAnswer(reason: "there is more behind \(position), and none of it came")
        }
        return changes
    }

    /// Nil where asking again would not help.
    private func delay(behind failure: AuthorityFailure, _ failures: Int) -> Duration? {
        let backoff = policy.backoff(after: failures, jitter: sources.jitter())
        switch failure {
        case .unreachable: return backoff
        case .unavailable(let after, _): return min(max(after ?? backoff, .zero), policy.delayMax)
        case .unauthenticated, .invalidAnswer: return nil
        }
    }
}
