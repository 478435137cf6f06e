import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// P10: the log shows the same after a crash at any step, and shows nothing before it is committed.
extension Trial {
    func reopening(onDisk: Bool) async throws -> Violation? {
        for (index, logStep) in logSteps.enumerated() {
            if let (seen, committed) = logStep.early {
                return Violation(
                    .p10, "early",
                    "At \(named(index)) entry \(seen) is visible while only \(committed) entries are "
                        + "committed: a crash would take it back.")
            }
            guard index == logSteps.count - 1 || writes(index) else { continue }
            let reopened = try LogUnderTest<P>.store(on: logStep.committed)
            if let violation = try comparison(of: reopened, index) { return violation }
        }
        return onDisk ? try await reopeningOnDisk() : nil
    }

    /// Whether the step may have written anything. If it has not, a crash after it leaves the same
    /// log as a crash before it.
    private func writes(_ index: Int) -> Bool {
        switch script.steps[index] {
        case .checkpoint, .reopen, .kill: true
        case .record, .together, .change, .edit, .acknowledge, .reject, .confirm, .attempt:
            index == 0 || modelSteps[index].sequence != modelSteps[index - 1].sequence
                || logSteps[index].observation.difference(
                    from: logSteps[index - 1].observation) != nil
        }
    }

    private func comparison(of reopened: Store<P>, _ index: Int) throws -> Violation? {
        let found = try Observation(allOf: reopened)
        return found.difference(from: logSteps[index].observation).map { difference in
            Violation(
                .p10, difference,
                "The process ends after \(named(index)) and the log is opened again:",
                expected: "before the crash", found: "opened again")
        }
    }

    /// The same on LMDB. A crash between two commits leaves the files as they are at that moment,
    /// so the test copies them. Nothing writes meanwhile, because the store that is copied has no
    /// thread.
    private func reopeningOnDisk() async throws -> Violation? {
        let folder = try TemporaryFolder()
        let log = folder.url.appending(path: "log", directoryHint: .isDirectory)
        var store = try openWithoutThread(log)
        var numbers = ScriptNumbers()
        for (index, step) in script.steps.enumerated() {
            switch step {
            case .reopen:
                await store.close()
                store = try openWithoutThread(log)
            case .checkpoint:
                do { try await store.checkpoint() } catch LogError.noCheckpoint {}
            case .kill:
                if let violation = try await crashOnDisk(log, folder, index) { return violation }
            case .record, .together, .change, .edit, .acknowledge, .reject, .confirm, .attempt:
                _ = await store.carryOut(step, &numbers)
            }
            if let violation = try comparison(of: store, index) { return violation }
        }
        let violation = try await crashOnDisk(log, folder, script.steps.count - 1)
        await store.close()
        return violation
    }

    private func crashOnDisk(
        _ log: URL, _ folder: TemporaryFolder, _ index: Int
    ) async throws -> Violation? {
        guard index >= 0 else { return nil }
        let copy = folder.url.appending(path: "copy \(index)", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: log, to: copy)
        let store = try await open(copy)
        let violation = try comparison(of: store, index)
        await store.close()
        try FileManager.default.removeItem(at: copy)
        return violation
    }

    private func open(_ directory: URL) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory, P.self, also: P.alsoForLaws, confirmedBy: script.kind,
            durability: .relaxed, checkpoints: .manual, replica: .exactly(.own), sources: .counting)
    }

    /// Opens a log on disk that runs the script.
    func openWithoutThread(
        _ directory: URL, sources: LogSources = .counting
    ) throws(LogError) -> Store<P> {
        try Store.openWithoutThread(
            at: directory, P.self, also: P.alsoForLaws, confirmedBy: script.kind,
            durability: .relaxed, replica: .exactly(.own), sources: sources)
    }
}
