import Foldback
import FoldbackSync

/// What has to hold once everything has healed and come to rest.
extension Fleet {
    /// Looks at every replica, its log and its authority's books; notes the first thing that is wrong.
    ///
    /// Behind ``run()``, outside of virtual time. Ends the replicas.
    func check() async {
        if !shared.notes.isBroken {
            checkBooks()
            var known: Set<IntentID> = []
            for (index, replica) in replicas.enumerated() {
                guard let store = replica.store else { continue }
                do { try check(store, server(of: index), &known) } catch {
                    broke("lost", "\(replica.name) cannot say what became of an intent: \(error)")
                }
            }
            for id in shared.book.ids where !known.contains(id) {
                broke("lost", "Intent \(id) was recorded, and no log has it.")
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
                        "made up", "The authority has applied intent \(id), which nobody recorded.")
                    continue
                }
                guard applied.insert(id).inserted else {
                    broke("applied twice", "The authority has applied intent \(id) twice (A1).")
                    continue
                }
                if case .accepted? = server.books.verdict(on: id) { continue }
                broke(
                    "applied, not accepted",
                    "The authority has applied intent \(id), and did not accept it.")
            }
            shared.notes.countSettled(server.books.decidedCount)
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
                "All works again, and intent \(first.id) of \(name) stays \(first.state).")
        }
        if !store.attempts.isEmpty {
            broke("attempts", "\(name) has attempts left of intents that are answered.")
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

    /// What the log says of an intent is what the authority says.
    private func checkVerdict(
        on intent: IntentStatus<P.Event>, _ books: InProcessAuthority<P>
    ) {
        let expected: IntentState =
            switch books.verdict(on: intent.id) {
            case .accepted: .confirmed
            case .rejected: .rejected
            case .later, nil: .withdrawn
            }
        guard intent.state != expected else { return }
        let verdict =
            switch expected {
            case .confirmed: "the authority has accepted it"
            case .rejected: "the authority has rejected it"
            case .withdrawn, .pending, .accepted: "the authority never decided on it"
            }
        broke(
            "\(intent.state), not \(expected)",
            "Intent \(intent.id) is \(intent.state), and \(verdict).")
    }

    private func compare(_ store: Store<P>, _ name: String, _ books: InProcessAuthority<P>) {
        let sight = Observation(of: store)
        // Besides the states what cannot differ, so that rows have to have the same.
        if let difference = sight.difference(
            from: sight.with(view: books.state, confirmed: books.state),
            [.confirmed, .view, .conflicted, .faults])
        {
            shared.notes.broke(
                difference.manner,
                "All works again, and \(difference.name) of \(name) is not the authority's.",
                comparing: Violation.Comparison(
                    expectedName: "the authority", expected: difference.expected,
                    foundName: name, found: difference.found))
        }
        let through = books.events.last?.position ?? 0
        if shared.kind == .downlink, store.status.through != through {
            broke(
                "through",
                "All works again, and \(name) has come to \(store.status.through) of \(through).")
        }
    }
}
