import Foldback
import Foundation

/// Checks that an update of an app loses nothing: the newer version shows all that is in a log which
/// the older version has used, before or in between.
///
/// ```swift
/// @Test func `version 2 sees what version 1 has folded`() async throws {
///     try await requireUpdate(from: V1.Tasks.self, to: V2.Tasks.self, events: V2.events)
/// }
/// ```
/// Both versions open one log in turn. They record, fetch and confirm events of the newer version,
/// and write checkpoints. Each time that the newer version has opened the log, its state must be the
/// fold of the log's entries. The older version counts as having the newer one's name.
///
/// The events are delivered as bytes, as a server delivers them.
///
/// - Parameters:
///   - old: the projection in the older version of the app, as that version shipped it.
///   - new: the projection in the newer version. Its states are compared with `==`.
///   - events: generates events of the newer version, also with its new members and cases.
///   - histories: how many logs are tried. Short ones come first.
///   - seed: repeats an earlier run; nil for a new one.
/// - Throws: ``UpdateBroken`` with the first log that lost something; ``Discarded`` of the
///   generator; errors of encoding events and of the file system.
public nonisolated(nonsending) func requireUpdate<
    Old: Projection, New: Projection & Equatable
>(
    from old: Old.Type, to new: New.Type, events: Generator<New.Event>, histories: Int = 100,
    seed: UInt64? = nil
) async throws {
    try await UpdateTrials<Posed<Old, New>, New>(events: events).run(histories, seed)
}

/// Checks that an update of an app loses nothing of a stored projection's rows. Two versions of a
/// row's type count as one, because they have one name in the app.
///
/// - Parameters:
///   - old: the projection in the older version of the app, as that version shipped it.
///   - new: the projection in the newer version.
///   - events: generates events of the newer version, also with its new members and cases.
///   - histories: how many logs are tried. Short ones come first.
///   - seed: repeats an earlier run; nil for a new one.
/// - Throws: ``UpdateBroken`` with the first log that lost something; ``Discarded`` of the
///   generator; errors of encoding events and of the file system.
public nonisolated(nonsending) func requireUpdate<Old: StoredProjection, New: StoredProjection>(
    from old: Old.Type, to new: New.Type, events: Generator<New.Event>, histories: Int = 100,
    seed: UInt64? = nil
) async throws {
    try await UpdateTrials<PosedRows<Old, New>, New>(events: events).run(histories, seed)
}

/// A log in which the newer version of an app misses something that the older version has folded.
public struct UpdateBroken: Error, CustomStringConvertible {
    /// What each version did, in order.
    public let steps: [String]
    /// How the state of the newer version differs, or the error with which it did not open.
    public let findings: [String]
    /// The seed that repeats the run.
    public let seed: UInt64

    public var description: String {
        (["the update loses something:"] + findings.map { "  \($0)" } + ["after these steps:"]
            + steps.map { "  \($0)" }
            + [
                "raise the version of what got a new member: the codec's for events, the "
                    + "projection's for states and rows (seed: \(seed))"
            ]).joined(separator: "\n")
    }
}

/// Random logs that two versions use in turn.
private struct UpdateTrials<Old: EventFold, New: EventFold> {
    let events: Generator<New.Event>

    func run(_ histories: Int, _ seed: UInt64?) async throws {
        let seed = seed ?? System.freshSeed()
        for history in 0..<histories {
            var trial = try UpdateTrial<Old, New>(
                Choices(seed: seed &+ UInt64(history)), sessions: 2 + history / 25)
            let findings = try await trial.findings(events)
            guard findings.isEmpty else {
                throw UpdateBroken(steps: trial.steps, findings: findings, seed: seed)
            }
        }
    }
}

/// One log that two versions use in turn.
private struct UpdateTrial<Old: EventFold, New: EventFold> {
    private let folder: TemporaryFolder
    private let kind: LogKind
    private let sessions: Int
    private var choices: Choices
    private(set) var steps: [String] = []

    init(_ choices: Choices, sessions: Int) throws {
        folder = try TemporaryFolder()
        self.sessions = sessions
        self.choices = choices
        kind = self.choices.draw(upTo: 1, .uniform) == 0 ? .downlink : .acknowledgement
    }

    /// Runs the sessions, and returns what the newer version misses; none if it has everything.
    mutating func findings(_ events: Generator<New.Event>) async throws -> [String] {
        for session in 0...sessions {
            // Only the newer version records, so that there is something to lose.
            let isNew = session == sessions || choices.draw(upTo: 1, .uniform) == 1
            let findings =
                isNew
                ? try await newSession(events, isLast: session == sessions)
                : try await oldSession(events)
            guard findings.isEmpty else { return findings }
        }
        return []
    }

    private mutating func newSession(
        _ events: Generator<New.Event>, isLast: Bool
    ) async throws -> [String] {
        steps.append("the newer version opens the log")
        let store: Store<New>
        do throws(LogError) { store = try await open(New.self) } catch {
            return ["it does not open the log: \(error)"]
        }
        let verification = try await store.verify()
        let findings = verification.findings.map { "\($0)" }
        if findings.isEmpty, !isLast {
            for _ in 0..<choices.draw(upTo: 3, .uniform) {
                let event = try events.generate(from: &choices)
                let number = try await store.record(event, force: true).number
                steps.append("  records \(event) as intent \(number)")
            }
            try await go(on: store, events)
        }
        await store.close()
        return findings
    }

    private mutating func oldSession(_ events: Generator<New.Event>) async throws -> [String] {
        steps.append("the older version opens the log")
        let store: Store<Old>
        do throws(LogError) { store = try await open(Old.self) } catch {
            return ["the older version does not open the log: \(error)"]
        }
        try await go(on: store, events)
        await store.close()
        return []
    }

    private func open<P: EventFold>(_ fold: P.Type) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: folder.url.appending(path: "log"), fold, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual)
    }

    /// Confirms what is pending, and events of others.
    private mutating func go<P: EventFold>(
        on store: Store<P>, _ events: Generator<New.Event>
    ) async throws {
        let codec = New.codec
        for intent in store.core.published.overlay.values.map(\.recorded)
        where choices.draw(upTo: 2, .uniform) > 0 {
            switch kind {
            case .acknowledgement: try await store.acknowledge(intent.number)
            case .downlink:
                try await store.confirm([
                    ConfirmedEvent(
                        position: store.status.through.next,
                        recorded: RecordedEvent(
                            format: intent.payload.format, bytes: intent.payload.bytes),
                        origin: intent.id)
                ])
            }
            steps.append("  confirms intent \(intent.number)")
        }
        if kind == .downlink {
            for _ in 0..<choices.draw(upTo: 2, .uniform) {
                let event = try events.generate(from: &choices)
                let recorded = RecordedEvent(
                    format: codec.format, bytes: try codec.encode(event))
                try await store.confirm([
                    ConfirmedEvent(position: store.status.through.next, recorded: recorded)
                ])
                steps.append("  fetches \(event)")
            }
        }
        if choices.draw(upTo: 1, .uniform) == 1 {
            do throws(LogError) {
                try await store.checkpoint()
                steps.append("  writes a checkpoint")
            } catch {
                // A projection without a state codec has no checkpoints.
                guard case .noCheckpoint = error else { throw error }
            }
        }
    }
}
