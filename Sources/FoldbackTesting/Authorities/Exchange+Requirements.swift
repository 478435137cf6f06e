import Foldback
import FoldbackSync

extension Exchange {
    /// All pages after many intents.
    struct Pages {
        let events: [ConfirmedEvent<Event>]
        let through: Position
        /// The last positions of the pages.
        let ends: Set<Position>
        /// The accepted intents without an effect in the pages.
        let missing: [(IntentID, Position)]
    }

    func requireAccepted(
        _ intents: [Submission<Event>], in verdicts: [IntentID: Verdict<Event>]
    ) throws(Broken) {
        for intent in intents {
            guard case .accepted = verdicts[intent.id] else {
                throw Broken("the sample of an accepted event, \(shown(intent.id)), is rejected")
            }
        }
    }

    /// Sends intents that the server must accept, and returns their verdicts.
    @discardableResult
    func accepted(
        _ intents: [Submission<Event>]
    ) async throws(Broken) -> [IntentID: Verdict<Event>] {
        let verdicts = try await decide(intents)
        try requireAccepted(intents, in: verdicts)
        return verdicts
    }

    func requireRejected(
        _ intent: Submission<Event>, in verdicts: [IntentID: Verdict<Event>]
    ) throws(Broken) {
        guard case .rejected = verdicts[intent.id] else {
            throw Broken("\(shown(intent.id)), which must be rejected, is accepted")
        }
    }

    func requireSame(
        _ found: [IntentID: Verdict<Event>], _ first: [IntentID: Verdict<Event>]
    ) throws(Broken) {
        for (id, verdict) in found {
            guard let before = first[id], try isSame(verdict, before) else {
                throw Broken("the second verdict on \(shown(id)) is another one than the first")
            }
        }
    }

    private func isSame(
        _ one: Verdict<Event>, _ other: Verdict<Event>
    ) throws(Broken) -> Bool {
        switch (one, other) {
        case (.accepted(let position, let event), .accepted(let before, let first)):
            guard position == before else { return false }
            guard let event, let first else { return event == nil && first == nil }
            return try bytes(of: event) == bytes(of: first)
        case (.rejected(let rejection), .rejected(let before)): return rejection == before
        case (.later, .later): return true
        default: return false
        }
    }

    private func bytes(of event: DeliveredEvent<Event>) throws(Broken) -> [UInt8] {
        switch event {
        case .recorded(let recorded): return recorded.bytes
        case .event(let event):
            do { return try samples.codec.encode(event) } catch {
                throw Broken("\(event) cannot be encoded: \(error)")
            }
        }
    }

    /// Whether two events are the same as the app's codec writes them. A server may spell JSON in its own
    /// way.
    private func isEqual(_ one: [UInt8], _ other: [UInt8], _ format: EventFormat) -> Bool {
        if one == other { return true }
        func written(_ bytes: [UInt8]) -> [UInt8]? {
            (try? samples.codec.decode(bytes.span.bytes, format: format)).flatMap {
                try? samples.codec.encode($0)
            }
        }
        guard let one = written(one), let other = written(other) else { return false }
        return one == other
    }

    /// The highest position of the accepted intents; 0 if there is none.
    func highest(in verdicts: [IntentID: Verdict<Event>]) -> Position {
        verdicts.values.compactMap {
            if case .accepted(let position, _) = $0 { position } else { nil }
        }.max() ?? 0
    }

    /// Fetches all pages after ``start``, and again for some seconds while they end before `end`: readers of
    /// a server may be behind its writer (A2).
    func fetch(
        after first: Position? = nil, reaching end: Position
    ) async throws(Broken) -> (
        events: [ConfirmedEvent<Event>], through: Position, ends: Set<Position>
    ) {
        var found = try await fetch(after: first ?? start)
        for _ in 0..<20 where found.through < end {
            await sources.sleep(.milliseconds(250))
            let more = try await fetch(after: found.through)
            found = (found.events + more.events, more.through, found.ends.union(more.ends))
        }
        guard found.through >= end else {
            throw Broken("the pages end at \(found.through), and an intent is accepted at \(end)")
        }
        return found
    }

    /// Requires that the pages after a position have each accepted intent's effect once, at the verdict's
    /// position, with the bytes that were sent or that the verdict names.
    func requireEffects(
        of intents: [Submission<Event>], _ verdicts: [IntentID: Verdict<Event>]
    ) async throws(Broken) {
        let events = try await fetch(reaching: highest(in: verdicts)).events
        for intent in intents {
            let name = shown(intent.id)
            let effects = events.filter { $0.origin == intent.id }
            guard effects.count == 1 else {
                throw Broken("\(name) is accepted, and has \(effects.count) effects")
            }
            guard case .accepted(let position, let replacement) = verdicts[intent.id] else {
                continue
            }
            if let position, position != effects[0].position {
                throw Broken(
                    "\(name) is accepted at \(position), and its effect is at \(effects[0].position)"
                )
            }
            let wanted =
                if let replacement { try bytes(of: replacement) } else { intent.recorded.bytes }
            guard try isEqual(bytes(of: effects[0].delivered), wanted, intent.recorded.format)
            else {
                throw Broken("the effect of \(name) is another event than its verdict says")
            }
        }
    }

    func requireNoEffect(
        of intent: Submission<Event>
    ) async throws(Broken) {
        let events = try await fetch(after: start).events
        guard !events.contains(where: { $0.origin == intent.id }) else {
            throw Broken("\(shown(intent.id)) has an effect, and was not accepted")
        }
    }

    /// Returns an intent that the server refuses, and a later one after which it would not.
    func refusedIntent(
        of replica: ReplicaID
    ) throws(Broken) -> (Submission<Event>, unlocking: Submission<Event>?) {
        let number = number()
        let intent = try intent(1, of: replica, samples.refused?(number))
        guard let unlocking = samples.unlocking?(number) else { return (intent, nil) }
        return (intent, try self.intent(2, of: replica, unlocking))
    }

    /// Sends 300 intents, 50 in a request, and fetches their pages.
    func manyPages() async throws(Broken) -> Pages {
        var accepted: [(IntentID, Position)] = []
        for _ in 0..<6 {
            let replica = replica()
            var intents: [Submission<Event>] = []
            for number in 1...50 as ClosedRange<UInt64> {
                intents.append(try intent(number, of: replica))
            }
            for (id, verdict) in try await decide(intents) {
                if case .accepted(let position?, _) = verdict { accepted.append((id, position)) }
            }
        }
        let highest = accepted.map(\.1).max() ?? 0
        let (events, through, ends) = try await fetch(reaching: highest)
        let found = Set(events.compactMap(\.origin))
        return Pages(
            events: events, through: through, ends: ends,
            missing: accepted.filter { !found.contains($0.0) }.sorted { $0.1 < $1.1 })
    }
}
