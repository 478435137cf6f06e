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

    /// The user abandons intents on which the authority fails for ever, once nothing else can be sent
    /// (S3).
    func abandonPoison() async {
        guard let (store, outbox) = content.withLock({ $0.process.map { ($0.store, $0.outbox) } }),
            outbox.leftCount == 0
        else { return }
        let quarantined = Set(outbox.status.quarantined.keys)
        checkLanes(of: store, beside: quarantined)
        for number in quarantined.sorted() {
            guard let id = store.pendingIntent(number)?.recorded.id, fleet.book.isPoison(id) else {
                continue
            }
            fleet.notes.trace(name, "abandons \(id)")
            // A log that cannot be written is found by the outbox.
            _ = try? await store.abandon(number)
        }
    }

    /// Checks that each pending intent waits for a quarantined one of its lane. One that undoes another, or
    /// touches such a one, may wait for others.
    private func checkLanes(of store: Store<P>, beside quarantined: Set<IntentNumber>) {
        guard !fleet.book.hasUndoings(of: name) else { return }
        var lanes: Set<String> = []
        for intent in store.overlay where intent.state == .pending {
            let lane = intent.event.flatMap(lane(of:))
            if quarantined.contains(intent.number) {
                if let lane { lanes.insert(lane) }
            } else if lane.map({ !lanes.contains($0) }) ?? true {
                fleet.notes.broke(
                    "held up",
                    "Intent \(intent.id) waits, and no intent before it in its lane is quarantined (S1)."
                )
            }
        }
    }

    private func lane(of event: P.Event) -> String? {
        guard !fleet.hasLanes else { return Self.lane(of: event) }
        return policy.keepsOrder ? "the only one" : nil
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
