import Foldback
import FoldbackSync

/// The checks after everything has healed and settled.
extension Fleet {
    /// Checks every replica, its log and its authority, and notes the first violation.
    ///
    /// Call it after ``run()``, outside of virtual time. It ends the replicas.
    func check() async {
        if !shared.notes.isBroken {
            checkBooks()
            var known: Set<IntentID> = []
            for (index, replica) in replicas.enumerated() {
                guard let store = replica.store else { continue }
                do { try check(store, server(of: index), &known) } catch {
                    broke("lost", "\(replica.name) does not know the state of an intent: \(error)")
                }
            }
            for id in shared.book.ids where !known.contains(id) && !shared.book.isLeft(id) {
                broke("lost", "Intent \(id) was recorded, but no log has it.")
            }
        }
        for (index, replica) in replicas.enumerated() {
            do {
                guard let again = try await replica.reopened() else { continue }
                compare(again, "\(replica.name), opened again,", server(of: index).books)
                await again.close()
            } catch {
                broke("error", "The log of \(replica.name) cannot be opened again: \(error)")
            }
        }
    }

    private func broke(_ manner: String, _ statement: String) {
        shared.notes.broke(manner, statement)
    }

    /// Each intent is decided once and applied at most once (A1).
    private func checkBooks() {
        for server in servers {
            var applied: Set<IntentID> = []
            for event in server.books.events {
                guard let id = event.origin else { continue }
                guard shared.book.has(id) else {
                    broke(
                        "made up", "The authority has applied intent \(id), which no user recorded."
                    )
                    continue
                }
                // An authority that does not compare devices may decide on a request that was on
                // its way while the device continued on a new log.
                let original = script.comparesDevices ? shared.book.original(of: id) : id
                guard applied.insert(original).inserted else {
                    broke("applied twice", "The authority has applied intent \(id) twice (A1).")
                    continue
                }
                if case .accepted? = server.books.verdict(on: id) { continue }
                broke(
                    "applied, not accepted",
                    "The authority has applied intent \(id) without accepting it.")
            }
            shared.notes.countSettled(server.books.decidedCount)
        }
        if shared.brings == .pendingAndConfirmed { checkLostEvents() }
        checkUndone()
    }

    /// Nothing of an undone action stays at the authority, and nobody gets a rejection for what they
    /// took back (F21).
    ///
    /// An authority that has lost events may have one of two intents.
    private func checkUndone() {
        guard shared.book.wantedBack.isEmpty else { return }
        for (undo, intent) in shared.book.undone {
            let verdicts = (verdict(on: intent), verdict(on: undo))
            switch verdicts {
            case (.accepted?, .accepted?), (.accepted?, .rejected?), (_, nil): break
            case (_, .rejected?):
                broke(
                    "undoing refused",
                    "Intent \(undo) is rejected, and intent \(intent), which it undoes, is not "
                        + "accepted (F21).")
            case (_, .accepted?), (_, .later?):
                broke(
                    "undone alone",
                    "The authority has accepted intent \(undo), and not intent \(intent), which it "
                        + "undoes (F21).")
            }
        }
        for (undo, intent) in shared.book.undone where verdict(on: undo) == nil {
            guard case .accepted? = verdict(on: intent) else { continue }
            broke(
                "not undone",
                "The authority has accepted intent \(intent), and not intent \(undo), which undoes "
                    + "it (F21).")
        }
    }

    /// The verdict on an intent, under any of its ids: accepted, if it is under one of them.
    ///
    /// An authority that lost events may reject an intent, and accept it under its next id.
    private func verdict(on id: IntentID) -> Verdict<P.Event>? {
        let ids = shared.book.ids.filter { shared.book.original(of: $0) == id }
        let verdicts = servers.flatMap { server in ids.compactMap { server.books.verdict(on: $0) } }
        let accepted = verdicts.first { if case .accepted = $0 { true } else { false } }
        return accepted ?? verdicts.first
    }

    /// What an authority lost is there again, or an authority has rejected it since (N6).
    private func checkLostEvents() {
        let accepted = servers.flatMap(\.books.events).compactMap(\.origin)
        let refused = shared.book.ids.filter { id in
            shared.book.isRejectedBefore(id)
                || servers.contains {
                    if case .rejected = $0.books.verdict(on: id) { true } else { false }
                }
        }
        let rejected = Set(refused.map { shared.book.original(of: $0) })
        let decided = rejected.union(accepted.map { shared.book.original(of: $0) })
        for id in shared.book.wantedBack where !decided.contains(id) {
            // What undoes a rejected intent lapses, and what undoes that lapses too (F21).
            var undone = shared.book.undone[id]
            while let next = undone, !decided.contains(next) { undone = shared.book.undone[next] }
            if let undone, rejected.contains(undone) { continue }
            broke("lost", "The authority has lost intent \(id), and no replica sent it again (N6).")
        }
    }

    private func check(
        _ store: Store<P>, _ server: SimulatedServer<P>, _ known: inout Set<IntentID>
    ) throws {
        let name = store.status.replica
        let snapshot = store.snapshot
        if let first = snapshot.overlay.first {
            broke(
                "\(first.state)",
                "Everything works again, but intent \(first.id) of \(name) stays \(first.state).")
        }
        if !store.attempts.isEmpty {
            broke("attempts", "\(name) still has attempts of answered intents.")
        }
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            let intent = try store.intent(number)
            known.insert(intent.id)
            checkVerdict(on: intent, server.books)
            number = IntentNumber(number.value + 1)
        }
        compare(store, "\(name)", server.books)
    }

    /// Compares the state of an intent in the log with the authority's verdict.
    private func checkVerdict(
        on intent: IntentStatus<P.Event>, _ books: InProcessAuthority<P>
    ) {
        let expected: IntentState =
            switch books.verdict(on: intent.id) {
            case .accepted: .confirmed
            // A rejection of an abandoned intent is ignored (F7, F19).
            case .rejected where intent.state == .withdrawn && shared.book.isAbandoned(intent.id):
                .withdrawn
            case .rejected: .rejected
            case .later, nil:
                shared.book.isRejectedBefore(intent.id) ? .rejected : .withdrawn
            }
        guard intent.state != expected else { return }
        let verdict =
            switch expected {
            case .confirmed: "the authority has accepted it"
            case .rejected: "an authority has rejected it"
            case .withdrawn, .pending, .accepted: "the authority never decided on it"
            }
        broke(
            "\(intent.state), not \(expected)",
            "Intent \(intent.id) is \(intent.state), but \(verdict).")
    }

    private func compare(_ store: Store<P>, _ name: String, _ books: InProcessAuthority<P>) {
        let found = Observation(of: store)
        // Conflicts and faults equal themselves, but the comparison includes those of the rows.
        if let difference = found.difference(
            from: found.with(view: books.state, confirmed: books.state),
            [.confirmed, .view, .conflicted, .faults])
        {
            shared.notes.broke(
                difference.manner,
                "Everything works again, but \(difference.name) of \(name) is not the authority's.",
                comparing: Violation.Comparison(
                    expectedName: "the authority", expected: difference.expected,
                    foundName: name, found: difference.found))
        }
        let through = books.head
        if shared.kind == .downlink, store.status.through != through {
            broke(
                "through",
                "Everything works again, but \(name) is at position \(store.status.through) of \(through)."
            )
        }
    }
}
