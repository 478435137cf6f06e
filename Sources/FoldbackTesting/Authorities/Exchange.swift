import Foldback
import FoldbackSync

/// One device's requests to a server under check, with everything that was said.
final class Exchange<Event: Sendable> {
    let authority: any Authority<Event>
    let samples: AuthoritySamples<Event>
    let sources: SyncSources
    private let freshReplica: () -> ReplicaID
    private var nextSample: Int
    private(set) var lines: [String] = []
    private var names: [ReplicaID: String] = [:]
    /// The server's head when the check began.
    private(set) var start: Position = 0
    /// The lineage of the answers so far; nil if they had none.
    private(set) var lineage: Lineage?

    init(
        _ authority: any Authority<Event>, _ samples: AuthoritySamples<Event>, sample: Int,
        _ sources: SyncSources, freshReplica: @escaping () -> ReplicaID
    ) {
        (self.authority, self.samples, self.sources) = (authority, samples, sources)
        (self.freshReplica, nextSample) = (freshReplica, sample)
    }

    // MARK: Intents

    func number() -> Int {
        nextSample += 1
        return nextSample
    }

    func replica() -> ReplicaID {
        let replica = freshReplica()
        names[replica] = "abcdefgh".dropFirst(names.count % 8).prefix(1).description
        return replica
    }

    func intent(
        _ number: UInt64, of replica: ReplicaID, _ event: Event? = nil
    ) throws(Broken) -> Submission<Event> {
        let event = event ?? samples.accepted(self.number())
        do {
            let recorded = RecordedEvent(
                format: samples.codec.format, bytes: try samples.codec.encode(event))
            return Submission(
                id: IntentID(replica: replica, number: IntentNumber(number)), event: event,
                recorded: recorded, time: sources.now(), info: [:])
        } catch {
            throw Broken("the sample event \(event) cannot be encoded: \(error)")
        }
    }

    // MARK: Requests

    /// Sends intents until each has a final verdict, at most ten times.
    ///
    /// - Throws: what broke, if an intent gets none, or the same request other failures again and again.
    @discardableResult
    func decide(
        _ intents: [Submission<Event>], from device: SyncPoint? = nil
    ) async throws(Broken) -> [IntentID: Verdict<Event>] {
        var decided: [IntentID: Verdict<Event>] = [:]
        for _ in 0..<10 {
            let open = intents.filter { decided[$0.id] == nil }
            if open.isEmpty { return decided }
            let answer = try await submit(open, from: device)
            for (id, verdict) in answer.byIntent {
                guard open.contains(where: { $0.id == id }) else {
                    throw Broken("the answer has a verdict on \(shown(id)), which was not sent")
                }
                switch verdict {
                case .later(let after, _):
                    await sources.sleep(min(after ?? .milliseconds(100), .seconds(2)))
                case .accepted, .rejected: decided[id] = verdict
                }
            }
        }
        let open = intents.filter { decided[$0.id] == nil }.map { shown($0.id) }
        throw Broken(
            "the server gave no final verdict on \(open.joined(separator: ", ")) after ten requests"
        )
    }

    /// Sends one request, and repeats it after failures of the link, at most five times.
    func submit(
        _ intents: [Submission<Event>], from device: SyncPoint? = nil
    ) async throws(Broken) -> Verdicts<Event> {
        let device = device ?? SyncPoint(lineage: lineage, through: 0)
        note("→ \(shown(intents))")
        let answer = try await repeated { () throws(AuthorityFailure) in
            try await authority.submit(intents, from: device)
        }
        for intent in intents.prefix(6) {
            note("← \(shown(intent.id)) \(answer[intent.id].map(Self.shown) ?? "no verdict")")
        }
        if intents.count > 6 { note("← and \(intents.count - 6) more verdicts") }
        if let lineage = answer.lineage { self.lineage = lineage }
        return answer
    }

    /// Sends one request that the server may refuse. Returns no verdicts then.
    func attempted(_ intents: [Submission<Event>]) async -> [IntentID: Verdict<Event>] {
        note("→ \(shown(intents))")
        do throws(AuthorityFailure) {
            let device = SyncPoint(lineage: lineage, through: 0)
            let answer = try await authority.submit(intents, from: device)
            note("← \(answer.byIntent.count) verdicts")
            return answer.byIntent
        } catch {
            note("← \(error)")
            return [:]
        }
    }

    /// Sends a request that must be refused as superseded.
    func superseded(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(Broken) -> Position? {
        note(
            "→ \(shown(intents)), lineage "
                + "\(device.lineage.map(\.description) ?? "none"), through \(device.through)"
                + (device.digest.map { ", digest \($0)" } ?? ""))
        do throws(AuthorityFailure) {
            _ = try await authority.submit(intents, from: device)
            note("← an answer")
            return nil
        } catch {
            note("← \(error)")
            guard case .superseded(let shared) = error else { return nil }
            return shared
        }
    }

    /// Whether a request of changes is refused as superseded.
    func isSuperseded(fetching device: SyncPoint) async -> Bool {
        note("→ changes after \(device.through), lineage \(device.lineage?.description ?? "none")")
        do throws(AuthorityFailure) {
            _ = noted(try await authority.changes(after: device))
            return false
        } catch {
            note("← \(error)")
            if case .superseded = error { return true }
            return false
        }
    }

    func page(
        after position: Position, digest: RunningDigest? = nil
    ) async throws(Broken) -> Changes<Event> {
        let device = SyncPoint(lineage: lineage, through: position, digest: digest)
        note("→ changes after \(position)" + (digest.map { ", digest \($0)" } ?? ""))
        let page = try await repeated { () throws(AuthorityFailure) in
            try await authority.changes(after: device)
        }
        return noted(page)
    }

    func noted(_ page: Changes<Event>) -> Changes<Event> {
        let events = page.events.prefix(6).map { event in
            "\(event.position)" + (event.origin.map { " (\(shown($0)))" } ?? "")
        }
        let rest = page.events.count > 6 ? " and \(page.events.count - 6) more" : ""
        note(
            "← \(events.isEmpty ? "no events" : events.joined(separator: ", "))\(rest), through "
                + "\(page.through)\(page.hasMore ? ", more" : "")")
        return page
    }

    /// Fetches all pages after a position.
    ///
    /// - Throws: what broke, if a page contradicts the one before it.
    func fetch(
        after start: Position
    ) async throws(Broken) -> (
        events: [ConfirmedEvent<Event>], through: Position, ends: Set<Position>
    ) {
        var events: [ConfirmedEvent<Event>] = []
        var through = start
        var ends: Set<Position> = []
        while true {
            let page = try await page(after: through)
            guard page.through >= through else {
                throw Broken("a page after \(through) has through \(page.through)")
            }
            for event in page.events {
                guard event.position > through, event.position <= page.through else {
                    throw Broken(
                        "a page after \(through) with through \(page.through) has an event at "
                            + "\(event.position)")
                }
            }
            guard !page.hasMore || page.through > through else {
                throw Broken("a page says that there is more, and does not move through")
            }
            events += page.events
            through = page.through
            ends.insert(through)
            if !page.hasMore { return (events, through, ends) }
        }
    }

    /// Asks where the server's data ends. The check looks at what comes after.
    func begin() async throws(Broken) {
        // A server may have years of data, so the pages of the past are not fetched if it tells its head.
        let page = try await page(after: 0)
        if let lineage = page.lineage { self.lineage = lineage }
        start = if let head = page.head { head } else { try await fetch(after: 0).through }
        // What was there before does not matter for the check.
        lines = ["the server's head is \(start)"]
    }

    // MARK: Text

    private func repeated<T>(
        _ call: () async throws(AuthorityFailure) -> T
    ) async throws(Broken) -> T {
        var last: AuthorityFailure?
        for attempt in 1...5 {
            do throws(AuthorityFailure) { return try await call() } catch {
                note("← \(error)")
                last = error
                switch error {
                case .unreachable, .unavailable, .failed: break
                case .unauthenticated, .invalidAnswer, .superseded: throw Broken("\(error)")
                }
                guard attempt < 5 else { break }
                var wait = Duration.milliseconds(200 * attempt)
                if case .unavailable(let after?, _) = error {
                    wait = max(wait, min(after, .seconds(5)))
                }
                await sources.sleep(wait)
            }
        }
        throw Broken("five times: \(last.map { "\($0)" } ?? "")")
    }

    private func note(_ line: String) { lines.append(line) }

    func shown(_ id: IntentID) -> String {
        "\(names[id.replica] ?? id.replica.description).\(id.number)"
    }

    private func shown(_ intents: [Submission<Event>]) -> String {
        let names = intents.prefix(6).map { shown($0.id) }.joined(separator: " ")
        return intents.count > 6 ? "\(names) … \(shown(intents[intents.count - 1].id))" : names
    }

    private static func shown(_ verdict: Verdict<Event>) -> String {
        switch verdict {
        case .accepted(let position, let replacement):
            "accepted" + (position.map { " at \($0)" } ?? "")
                + (replacement == nil ? "" : ", reworded")
        case .rejected(let rejection): "rejected: \(rejection.message)"
        case .later(_, let reason): "later: \(reason)"
        }
    }
}

/// What a server did against a law.
struct Broken: Error {
    let what: String
    /// Whether nothing is broken: the server does not have what the check is about.
    let isOptional: Bool

    init(_ what: String, isOptional: Bool = false) {
        (self.what, self.isOptional) = (what, isOptional)
    }
}
