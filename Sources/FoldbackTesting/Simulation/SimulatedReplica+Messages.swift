import Foldback
import FoldbackSync

/// What the app tells the outbox and the downlink, and what they get.
extension SimulatedReplica {
    /// The user signs in if the app asks for it.
    func signInWhereAsked() {
        guard let process = content.withLock({ $0.process }) else { return }
        if case .signedOut = process.outbox.status.pause { process.outbox.tell(.signedIn) }
        // The status of a downlink that does not run hides this.
        process.downlink.tell(.signedIn)
    }

    func tell(_ change: LinkChange) {
        guard let process = content.withLock({ $0.process }) else { return }
        process.outbox.tell(change)
        process.downlink.tell(change)
    }

    /// Whether a replica that follows has everything that its authority has.
    var isCaughtUp: Bool {
        guard follows, fleet.kind == .downlink,
            let process = content.withLock({ $0.process })
        else { return true }
        let status = process.downlink.status
        return status.pause == nil && !status.isFetching
            && status.through == server.books.head
    }

    /// The user abandons intents on which the authority fails for ever, once all other intents that
    /// can be sent are settled (S3). With lanes, that is each intent that is not after one of them in
    /// its lane (S1).
    func abandonPoison() async {
        guard let (store, outbox) = content.withLock({ $0.process.map { ($0.store, $0.outbox) } })
        else { return }
        let status = outbox.status
        let quarantined = Set(status.quarantined.keys)
        let (sendable, undoing) = sendable(in: store, beside: quarantined)
        let isBlocked =
            !fleet.hasLanes && !status.blocking.isEmpty
            || sendable <= status.dependentCount - undoing + status.held.count
        guard isBlocked else { return }
        for number in quarantined.sorted() {
            guard let id = store.pendingIntent(number)?.recorded.id, fleet.book.isPoison(id) else {
                continue
            }
            fleet.notes.trace(name, "abandons \(id)")
            // A log that cannot be written is found by the outbox.
            _ = try? await store.abandon(number)
        }
    }

    /// Counts the pending intents that neither are quarantined, nor undo such an intent, nor come after one
    /// of these in its lane; and those that undo one. Of the first, some may depend on others, or be drafts.
    private func sendable(
        in store: Store<P>, beside quarantined: Set<IntentNumber>
    ) -> (count: Int, undoing: Int) {
        var stuck = quarantined
        var lanes: Set<String> = []
        var count = 0
        for intent in store.overlay where intent.state == .pending {
            let lane = fleet.hasLanes ? intent.event.flatMap { Self.lane(of: $0) } : nil
            if intent.undoes.map(stuck.contains) ?? false { stuck.insert(intent.number) }
            if stuck.contains(intent.number) {
                if let lane { lanes.insert(lane) }
            } else if lane.map({ !lanes.contains($0) }) ?? true {
                count += 1
            }
        }
        return (count, stuck.count - quarantined.count)
    }

    /// Starts a fetch, also if another fetch is running.
    func startFetching() {
        startTask { await self.fetch() }
    }

    func fetch() async {
        guard
            let (downlink, link) = content.withLock({ content in
                content.process.map { ($0.downlink, $0.link) }
            })
        else { return }
        do throws(SyncError) {
            // Longer than any wait, so that only a downlink that never asks exceeds it.
            let result = try await downlink.fetch(within: .seconds(3_600))
            if case .failed(.invalidAnswer(let reason)) = result {
                fleet.notes.broke("unusable", "\(name) cannot use the fetched events: \(reason)")
            }
        } catch .superseded {
            startContinuing(link)
        } catch {
            fleet.notes.broke("unusable", "\(name) cannot record the fetched events: \(error)")
        }
    }

    func deliver(_ verdicts: Verdicts<P.Event>) async {
        for (id, verdict) in verdicts.byIntent.sorted(by: { $0.key.number < $1.key.number }) {
            await deliver { store throws(CommandError) in
                // The log may be another one now, with other intents under the same numbers.
                guard id.number < store.status.nextIntent,
                    try CommandError.converting({ () throws(LogError) in
                        try store.intent(id.number).id == id
                    })
                else { return }
                switch verdict {
                case .accepted(let position, let words):
                    let position = store.status.kind == .downlink ? position : nil
                    try await store.acknowledge(
                        contentsOf: [
                            Acknowledgement(id.number, position: position, delivered: words)
                        ], from: verdicts.lineage)
                case .rejected(let rejection):
                    try await store.reject(
                        id.number, code: rejection.code, message: rejection.message,
                        from: verdicts.lineage)
                case .later: break
                }
            }
        }
    }

    func deliver(_ changes: Changes<P.Event>) async {
        await deliver { store throws(CommandError) in
            try await store.confirm(
                changes.events, through: changes.through, from: changes.lineage)
        }
    }

    private func deliver(
        _ record: @Sendable (Store<P>) async throws(CommandError) -> Void
    ) async {
        guard let store else { return }
        do throws(CommandError) { try await record(store) } catch {
            switch error {
            case .log(.closed), .superseded: return
            default: break
            }
            fleet.notes.broke("unusable", "\(name) cannot record the authority's answer: \(error)")
        }
    }
}
