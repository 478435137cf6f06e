import Foldback
import FoldbackExamples
import FoldbackSync
import Foundation

/// The authority of all devices. It survives the end of its process.
///
/// Each decision is in its own log, flushed, before it is answered. After a restart, the authority
/// is the fold of that log, so a repeated intent gets its first verdict again (A1).
actor FeedAuthority {
    /// How to decide on an intent. The stage chooses it.
    enum Ruling: Hashable, Sendable {
        /// By the rules of the feed.
        case byRules
        /// Accept a comment or a post with other words.
        case reword(String)
        case reject(String)

        /// Whether the verdict does not depend on other intents.
        var isRejection: Bool { if case .reject = self { true } else { false } }
    }

    nonisolated let store: Store<Ledger>
    private let sources: SyncSources
    /// The reach of each next boost; nil to compute it from the likes.
    private var reach: Int?
    /// The decision that was begun last. Decisions are made one after another.
    private var last: Task<Void, Never>?
    /// Called when the log cannot be written until it is opened again.
    private let lost: @Sendable (LogError) -> Void

    /// Opens the log, or creates it with some posts.
    ///
    /// - Parameters:
    ///   - directory: where the log is.
    ///   - seeds: the decisions of a new log.
    ///   - clock: the source of time.
    ///   - lost: called when nothing can be decided until the log is opened again.
    init(
        at directory: URL, seeds: [Ledger.Decision], clock: FeedClock,
        lost: @escaping @Sendable (LogError) -> Void
    ) async throws {
        self.lost = lost
        store = try await Store.open(
            at: directory, Ledger.self, confirmedBy: .downlink, durability: .durable,
            sources: clock.log)
        sources = clock.sync
        guard store.view.lineage == nil else { return }
        let events =
            [.founded(lineage: Lineage.fresh().description)] + seeds.map(Ledger.Event.decided)
        try await store.confirm(
            zip(1..., events).map { ConfirmedEvent(position: Position($0), event: $1) })
    }

    nonisolated var ledger: Ledger { store.view }
    /// The position of the last decision.
    nonisolated var head: Position { store.status.through }

    /// Deletes a post in the name of its author.
    ///
    /// - Throws: `RefusedCommand` if the feed's rules do not allow it; `AuthorityFailure`.
    func delete(_ post: String, by author: String) async throws {
        let event = FeedEvent(by: author, did: .deleted(post: post))
        // The number of a decision is free only during its turn.
        let verdict = try await inTurn {
            let id = IntentID(replica: Self.replica, number: IntentNumber(self.head.value + 1))
            return await self.decided(id, event, .byRules)
        }
        if case .rejected(let rejection) = verdict {
            throw RefusedCommand(status: .conflict, rejection.message)
        }
    }

    /// The origin of what the authority does by itself.
    private static let replica = replicaID("authority")
    /// The origin of the first posts.
    static let seedReplica = replicaID("seed")
    /// The names that no device can have.
    static let usedNames = [replica, seedReplica].map(\.description)

    private static func replicaID(_ name: String) -> ReplicaID {
        guard let replica = ReplicaID(name) else {
            preconditionFailure("\(name) is not a replica id")
        }
        return replica
    }

    func setReach(_ reach: Int?) { self.reach = reach }

    // MARK: Deciding

    /// Decides on an intent, or repeats its verdict.
    func decide(
        _ id: IntentID, _ event: FeedEvent, _ ruling: Ruling
    ) async throws(AuthorityFailure) -> Ledger.Verdict {
        try await inTurn { await self.decided(id, event, ruling) }
    }

    /// Makes a decision after all decisions that were begun earlier.
    private func inTurn(
        _ decide: @escaping @Sendable () async -> Result<Ledger.Verdict, AuthorityFailure>
    ) async throws(AuthorityFailure) -> Ledger.Verdict {
        let before = last
        let turn = Task {
            await before?.value
            return await decide()
        }
        last = Task { _ = await turn.value }
        return try await turn.value.get()
    }

    private func decided(
        _ id: IntentID, _ event: FeedEvent, _ ruling: Ruling
    ) async -> Result<Ledger.Verdict, AuthorityFailure> {
        if let verdict = ledger.verdict(on: id, event) { return .success(verdict) }
        let decision = Ledger.Decision(id, event, outcome(id, event, ruling))
        let next = ConfirmedEvent<Ledger.Event>(
            position: Position(head.value + 1), event: .decided(decision))
        do { try await store.confirm([next]) } catch { return .failure(failure(error)) }
        guard let verdict = ledger.verdict(on: id, event) else {
            return .failure(.failed(reason: "the ledger has no verdict on \(id)"))
        }
        return .success(verdict)
    }

    /// What a device learns about an error. A failing disk is not the fault of an intent.
    private func failure(_ error: CommandError) -> AuthorityFailure {
        guard case .log(let failure) = error, failure.isOfStorage else {
            return .failed(reason: "\(error)")
        }
        if !failure.leavesStoreOpen { lost(failure) }
        return .unavailable(after: nil, reason: "\(error)")
    }

    private func outcome(
        _ id: IntentID, _ event: FeedEvent, _ ruling: Ruling
    ) -> Ledger.Outcome {
        let applied: FeedEvent
        switch ruling {
        case .reject(let reason): return .rejected(code: "staged", message: reason)
        case .reword(let words): applied = FeedEvent(by: event.by, did: event.did.saying(words))
        case .byRules: applied = FeedEvent(by: event.by, did: withReach(event.did))
        }
        guard event.by == id.replica.description || id.replica == Self.replica else {
            return .rejected(code: "forbidden", message: "This device is not \(event.by)'s.")
        }
        if case .deleted(let post) = event.did, let author = ledger.author(of: post),
            author != event.by
        {
            return .rejected(code: "forbidden", message: "This post is \(author)'s.")
        }
        if case .restored(let id) = event.did, let post = ledger.feed.posts[id], post.by != event.by
        {
            return .rejected(code: "forbidden", message: "This post is \(post.by)'s.")
        }
        var feed = ledger.feed
        do { try feed.apply(applied, EventContext(.intent(id))) } catch {
            return .rejected(code: error.code.rawValue, message: "\(error)")
        }
        return .accepted(applied)
    }

    private func withReach(_ action: FeedAction) -> FeedAction {
        guard case .boosted(let post, _) = action else { return action }
        let likes = ledger.feed.posts[post]?.likes.count ?? 0
        return .boosted(post: post, reach: reach ?? 40 * (1 + likes))
    }

    // MARK: Delivering

    /// Waits until there is an event after a position that a user may see, or until the time is up.
    nonisolated func waitForEvent(
        for user: String, after position: Position, _ limit: Duration
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sources.sleep(limit) }
            group.addTask {
                for await snapshot in self.store.views
                where snapshot.view.hasEvents(for: user, after: position) { return }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

extension LogError {
    /// Whether the store takes further commands after this error.
    fileprivate var leavesStoreOpen: Bool {
        switch self {
        case .outcomeUnknown, .latched: false
        default: true
        }
    }
}

extension FeedAction {
    /// The same action with other words, if it has words.
    fileprivate func saying(_ words: String) -> FeedAction {
        switch self {
        case .posted: .posted(words)
        case .postedPhoto(_, let color): .postedPhoto(words, color: color)
        case .commented(let post, _): .commented(post: post, text: words)
        case .deleted, .restored, .liked, .unliked, .boosted, .followed, .unfollowed, .blocked,
            .unblocked:
            self
        }
    }
}
