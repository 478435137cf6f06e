import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync
import Foundation

/// The authority of all devices: a space with the feed, and what the server does by itself.
actor FeedAuthority {
    nonisolated let space: Space<FeedRules>
    /// The server's deletion that was begun last.
    private var last: Task<Void, Never>?
    /// Called when the log cannot be used until it is opened again.
    private let lost: @Sendable (LogError) -> Void

    /// Opens the log, or creates it with some posts.
    ///
    /// - Parameters:
    ///   - directory: where the log is.
    ///   - seeds: what happened in a new feed.
    ///   - clock: the source of time.
    ///   - lost: called when nothing can be decided until the log is opened again.
    init(
        at directory: URL, seeds: [Submission<FeedEvent>], clock: FeedClock,
        lost: @escaping @Sendable (LogError) -> Void
    ) async throws {
        self.lost = lost
        space = try await Space.open(
            at: directory, rules: FeedRules(), sources: clock.sync, log: clock.log)
        guard feed == Feed() else { return }
        var rest = seeds[...]
        while !rest.isEmpty {
            // A space decides on the first intents of a long request.
            let verdicts = try await space.authority(for: .server).submit(
                Array(rest), from: SyncPoint(lineage: space.lineage, through: space.head))
            rest = rest.dropFirst(verdicts.byIntent.count)
        }
    }

    /// What a person has chosen for the next decisions.
    nonisolated var choices: Choices { space.rules.choices }
    nonisolated var feed: Feed { space.store.view.state }

    /// Decides on an intent, or repeats its verdict.
    ///
    /// - Parameter device: what the device knows.
    nonisolated func decide(
        _ intent: Submission<FeedEvent>, by account: Account, _ ruling: StageRuling = .byRules,
        from device: SyncPoint = SyncPoint(lineage: nil, through: 0)
    ) async throws(AuthorityFailure) -> Verdict<FeedEvent> {
        choices.choose(ruling, on: intent.id)
        do throws(AuthorityFailure) {
            let verdicts = try await space.authority(for: account).submit([intent], from: device)
            guard let verdict = verdicts[intent.id] else {
                throw .failed(reason: "the space has no verdict on \(intent.id)")
            }
            choices.forget(intent.id)
            return verdict
        } catch {
            if let failure = space.failure { lost(failure) }
            throw error
        }
    }

    /// Returns the events after a position that a user may see, with the intents that caused them.
    nonisolated func events(
        for user: Account, after position: Position
    ) throws(LogError) -> [(intent: IntentID, event: FeedEvent)] {
        var events: [(intent: IntentID, event: FeedEvent)] = []
        // The entries of a space's log are numbered as its positions.
        var next = LogSequence(position.value + 1)
        while next <= space.store.status.sequence {
            for entry in try space.store.entries(from: next, countMax: .max) {
                next = LogSequence(entry.sequence.value + 1)
                guard case .confirmed(let batch, _) = entry.content else { continue }
                for decided in batch {
                    guard case .decided(let decision) = decided.event.event,
                        let event = decision.effect?.event, let intent = decided.origin,
                        decision.account == user || space.rules.shows(event, to: user)
                    else { continue }
                    events.append((intent, event))
                }
            }
        }
        return events
    }

    // MARK: The server's own decisions

    /// Deletes a post in the name of its author.
    ///
    /// - Throws: ``Refusal`` if the feed does not allow it; `AuthorityFailure`.
    func delete(_ post: String, by author: String) async throws {
        let event = FeedEvent(by: author, did: .deleted(post: post))
        let before = last
        let turn = Task {
            await before?.value
            // The decision gets at least this position, so its number is free until then, also after
            // a restart. The next deletion gets a higher number.
            let number = IntentNumber(space.head.value + 1)
            return try await decide(
                Submission(IntentID(replica: Self.replica, number: number), event), by: .server)
        }
        last = Task { _ = try? await turn.value }
        if case .rejected(let rejection) = try await turn.value {
            throw Refusal(.conflict, rejection.message)
        }
    }

    /// The origin of what the server does by itself.
    private static let replica = ReplicaID("authority")!
    /// The origin of the first posts.
    static let seedReplica = ReplicaID("seed")!
    /// The names that no device can have.
    static let usedNames = [replica, seedReplica].map(\.description)
}

extension Submission<FeedEvent> {
    /// An event that this process sends.
    init(_ id: IntentID, _ event: FeedEvent) throws {
        let codec = Feed.codec
        self.init(
            id: id, event: event,
            recorded: RecordedEvent(format: codec.format, bytes: try codec.encode(event)),
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}
