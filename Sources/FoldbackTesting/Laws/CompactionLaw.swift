import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// P19: a log that is compacted shows the same as a log that never is.
///
/// The script runs on a log on disk and on its *twin*, a log in memory. The log on disk is compacted
/// several times:
///
/// ```
///  often   after each second step, and keeps its last entry: every intent is older than the base
///  seldom  after each fifth step, and keeps half of its entries: many entries follow the base
/// ```
extension Trial {
    /// Returns nil if a state has no codec, because its log cannot be compacted.
    func compactingChangesNothing(onDisk: Bool) async throws -> Violation? {
        guard onDisk, P.lacksStateCodec == nil else { return nil }
        for pace in CompactionPace.allCases {
            var run = try CompactedRun(self, pace)
            if let violation = try await run.violation() { return violation }
        }
        return nil
    }
}

extension Projection {
    /// The first projection of the log whose states cannot be encoded; nil if there is none.
    static var lacksStateCodec: String? {
        func lacks<Q: Projection>(_: Q.Type) -> Bool { Q.stateCodec == nil }
        let values = [Self.self] + alsoForLaws.compactMap { $0.type as? any Projection.Type }
        return values.first { lacks($0) }.map { "\($0)" }
    }
}

/// When a log is compacted, and how much it keeps.
private enum CompactionPace: CaseIterable {
    case often, seldom

    /// Returns how many of its entries a log keeps if it is compacted after a step; nil if it is not.
    func window(after index: Int, of entryCount: Int) -> Int? {
        let (steps, kept) =
            switch self {
            case .often: (2, 1)
            case .seldom: (5, (entryCount + 1) / 2)
            }
        return index % steps == steps - 1 && entryCount > kept ? kept : nil
    }
}

/// A log that is compacted again and again, and its twin that never is.
private struct CompactedRun<P: Projection> {
    private let trial: Trial<P>
    private let pace: CompactionPace
    private let folder: TemporaryFolder
    private var store: Store<P>
    private var twin: LogUnderTest<P>
    /// When the log was compacted, for messages.
    private var history = "The log was not compacted yet."

    init(_ trial: Trial<P>, _ pace: CompactionPace) throws {
        (self.trial, self.pace) = (trial, pace)
        folder = try TemporaryFolder()
        store = try trial.openWithoutThread(Self.log(in: folder), sources: .standing)
        twin = try LogUnderTest(trial.script.kind, sources: .standing)
    }

    private static func log(in folder: TemporaryFolder) -> URL {
        folder.url.appending(path: "log", directoryHint: .isDirectory)
    }

    mutating func violation() async throws -> Violation? {
        for (index, step) in trial.script.steps.enumerated() {
            if let violation = try await perform(step, index) ?? comparison(index) {
                return violation
            }
            let entryCount = store.status.entryCount
            guard let window = pace.window(after: index, of: entryCount) else { continue }
            let violation = try await compact(keeping: window, index)
            if let violation = try violation ?? comparison(index) ?? comparisonOfIntents(index) {
                return violation
            }
        }
        if let violation = try comparisonOfIntents(trial.script.steps.count - 1) {
            return violation
        }
        let violation = try await comparisonOfPast()
        await store.close()
        return violation
    }

    // MARK: Steps

    private mutating func perform(_ step: Script<P.Event>.Step, _ index: Int) async throws
        -> Violation?
    {
        switch step {
        case .reopen, .kill:
            await store.close()
            store = try trial.openWithoutThread(Self.log(in: folder), sources: .standing)
        case .checkpoint: try await store.checkpoint()
        case .record, .together, .change, .edit, .acknowledge, .reject, .confirm, .attempt:
            guard let command = twin.numbers.command(for: step) else { break }
            guard try !store.isAnswerToRemoved(command) else {
                twin.skip(step)
                return nil
            }
            let found = await store.carryOut(command)
            if found == .removed, try twin.store.mayNeedRemoved(command) {
                twin.skip(step)
                return nil
            }
            guard let expected = try await twin.perform(step), expected != found else { return nil }
            return Violation(
                .p19, "outcome",
                "\(history) At \(trial.named(index)) it answers \(found), and a log that was never "
                    + "compacted answers \(expected).")
        }
        _ = try await twin.perform(step)
        return nil
    }

    private mutating func compact(keeping count: Int, _ index: Int) async throws -> Violation? {
        await store.close()
        let kept = count == 1 ? "its last entry" : "its last \(count) entries"
        let place = "The log is compacted after \(trial.named(index)) and keeps \(kept)."
        let isArchived = trial.script.kind == .acknowledgement
        do throws(LogError) {
            _ = try await Store.compact(
                at: Self.log(in: folder), P.self, also: P.alsoForLaws, keeping: .entries(count),
                archive: isArchived
                    ? folder.url.appending(path: "archive", directoryHint: .isDirectory) : nil,
                sources: .standing)
        } catch {
            switch error {
            case .notProven(_, let reason):
                return Violation(
                    .p19, "not proven",
                    "\(place) It is refused, because a fold from the base differs from a fold of all "
                        + "entries: \(reason). Does the state codec write everything that apply reads?"
                )
            case .damaged(_, _, let reason):
                return Violation(
                    .p19, "unsound",
                    "\(place) It is refused, because a fold of all entries differs from what the log "
                        + "has: \(reason). Does apply read anything besides its event and its state or "
                        + "rows?")
            default: throw error
            }
        }
        store = try trial.openWithoutThread(Self.log(in: folder), sources: .standing)
        history = "The log was compacted after step \(index + 1), to base \(store.status.base)."
        return nil
    }

    // MARK: Comparisons

    /// Compares what both logs show, and their last entries.
    ///
    /// A record has the checksum of the record before it. So if the last ones are equal, all are (L5).
    private func comparison(_ index: Int) throws -> Violation? {
        let place = "\(history) After \(trial.named(index))"
        let expected = try Observation(allOf: twin.store)
        let found = try Observation(of: store, sharingRemovedOf: expected)
        if let difference = found.difference(from: expected) {
            return violation(place, difference)
        }
        let last = expected.sequence
        guard try store.core.storage.record(at: last) != twin.store.core.storage.record(at: last)
        else { return nil }
        return Violation(.p19, "entries", "\(place) the entries after the base differ.")
    }

    private func violation(
        _ place: String, _ difference: Observation<P>.Difference
    ) -> Violation {
        Violation(
            .p19, difference, place, expected: "the log that was never compacted",
            found: "the compacted log")
    }

    /// Compares everything that the logs know of each intent that the compacted log still has.
    private func comparisonOfIntents(_ index: Int) throws -> Violation? {
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            defer { number = IntentNumber(number.value + 1) }
            let found: IntentStatus<P.Event>
            do throws(LogError) { found = try store.intent(number) } catch .compactedIntent {
                continue
            }
            let (a, b) = (Self.text(try twin.store.intent(number)), Self.text(found))
            guard a != b else { continue }
            return Violation(
                .p19, "intent",
                "\(history) After \(trial.named(index)) intent \(number) differs.",
                comparing: Violation.Comparison(
                    expectedName: "the log that was never compacted", expected: a,
                    foundName: "the compacted log", found: b))
        }
        return nil
    }

    private static func text(_ intent: IntentStatus<P.Event>) -> StateText {
        let parts: [String: Any?] = [
            "id": intent.id, "state": intent.state, "event": intent.event,
            "rejection": intent.rejection, "isDismissed": intent.isDismissed,
            "retries": intent.retries, "isDraft": intent.isDraft, "group": intent.group,
            "replaces": intent.replaces, "undoes": intent.undoes,
            "isConfirmOnly": intent.isConfirmOnly, "once": intent.once,
            "recordedAt": intent.recordedAt, "sequence": intent.sequence, "answer": intent.answer,
        ]
        return StateText(parts.compactMapValues { $0 })
    }

    /// Compares the views at the base and at each later entry. Everything before the base is gone.
    private func comparisonOfPast() async throws -> Violation? {
        let verification = try await store.verify()
        if let finding = verification.findings.first {
            return Violation(.p19, "unsound", "\(history) At the end it is not sound: \(finding).")
        }
        let base = store.status.base
        for sequence in (0...store.status.sequence.value).map({ LogSequence($0) }) {
            guard sequence >= base else {
                guard try await isRemoved(sequence) else {
                    return Violation(
                        .p19, "past",
                        "\(history) Reading the view at \(sequence), or the next entry, throws nothing."
                    )
                }
                continue
            }
            let found = try await Observation<P>(of: store, at: sequence)
            let expected = try await Observation(of: twin.store, at: sequence)
            let parts: Set<Observation<P>.Part> = [
                .view, .confirmed, .pending, .accepted, .conflicted, .faults,
            ]
            if let difference = found.difference(from: expected, parts) {
                return violation("\(history) At the past sequence \(sequence),", difference)
            }
        }
        return nil
    }

    /// Whether reading the view at a sequence throws `.compacted`, and reading the entry after it too.
    private func isRemoved(_ sequence: LogSequence) async throws -> Bool {
        do {
            _ = try await store.snapshot(at: sequence)
            return false
        } catch LogError.compacted {}
        do {
            // Without stored rows, there is nothing to read.
            if try await P.rowsForLaws(store, at: sequence) != nil { return false }
        } catch LogError.compacted {}
        do {
            _ = try store.entries(from: sequence.next, countMax: 1)
            return false
        } catch LogError.compacted { return true }
    }
}

extension LogSources {
    /// A clock that stands still, so that two logs have equal entries.
    fileprivate static var standing: LogSources {
        LogSources(
            now: { Timestamp(millisecondsSince1970: 1_795_209_600_000) },
            freshReplica: { .named("fresh") })
    }
}
