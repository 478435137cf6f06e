import Foldback
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// P10: what is left behind each step shows the same, and nothing is seen before it is kept.
extension Trial {
    func reopening(onDisk: Bool) async throws -> Violation? {
        let early = Mutex<(seen: LogSequence, kept: Int)?>(nil)
        let watch: LogUnderTest<P>.Watch = { seen, kept in
            if seen.value > UInt64(kept) { early.withLock { $0 = $0 ?? (seen, kept) } }
        }
        var subject = try LogUnderTest<P>(history.kind, watch: watch)
        for (index, step) in history.steps.enumerated() {
            _ = try await subject.perform(step)
            if let (seen, kept) = early.withLock({ $0 }) {
                return Violation(
                    .p10, "early",
                    "At \(named(index)) entry \(seen) is seen when only \(kept) are kept: a crash "
                        + "would take it back.")
            }
            if let violation = try comparison(of: try subject.left(), index) { return violation }
        }
        return onDisk ? try await reopeningOnDisk() : nil
    }

    private func comparison(of left: Store<P>, _ index: Int) throws -> Violation? {
        let found = try Observation(allOf: left)
        return found.difference(from: passages[index].sight).map { difference in
            Violation(
                .p10, difference,
                "The process ends behind \(named(index)) and the log is opened again:",
                expected: "before the crash", found: "opened again")
        }
    }

    /// The same on LMDB: files copied at a moment between two commits are what a crash leaves. Nothing
    /// is written at that moment, because the store that is copied has no thread.
    private func reopeningOnDisk() async throws -> Violation? {
        let folder = try TemporaryFolder()
        let log = folder.url.appending(path: "log", directoryHint: .isDirectory)
        var store = try openWithoutThread(log)
        var numbers = ScriptNumbers()
        for (index, step) in history.steps.enumerated() {
            switch step {
            case .reopen:
                await store.close()
                store = try openWithoutThread(log)
            case .checkpoint:
                do { try await store.checkpoint() } catch FoldbackError.noCheckpoint {}
            case .kill:
                if let violation = try await leftOnDisk(log, folder, index) { return violation }
            case .record, .change, .acknowledge, .reject, .confirm:
                _ = await store.carryOut(step, &numbers)
            }
            if let violation = try comparison(of: store, index) { return violation }
        }
        let violation = try await leftOnDisk(log, folder, history.steps.count - 1)
        await store.close()
        return violation
    }

    private func leftOnDisk(
        _ log: URL, _ folder: TemporaryFolder, _ index: Int
    ) async throws -> Violation? {
        guard index >= 0 else { return nil }
        let copy = folder.url.appending(path: "left \(index)", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: log, to: copy)
        let store = try await open(copy)
        let violation = try comparison(of: store, index)
        await store.close()
        try FileManager.default.removeItem(at: copy)
        return violation
    }

    private func open(_ directory: URL) async throws(FoldbackError) -> Store<P> {
        try await Store.open(
            at: directory, P.self, also: P.alsoForLaws, confirmedBy: history.kind,
            durability: .relaxed, checkpoints: .manual, replica: .own, sources: .counting)
    }

    private func openWithoutThread(_ directory: URL) throws(FoldbackError) -> Store<P> {
        try Store.openWithoutThread(
            at: directory, P.self, also: P.alsoForLaws, confirmedBy: history.kind,
            durability: .relaxed, replica: .own, sources: .counting)
    }
}
