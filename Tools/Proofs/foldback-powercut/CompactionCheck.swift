import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation

/// Finishes a compaction that was cut, as an app that calls it again (C7, C9).
///
/// ``ImageCheck`` has found the log as the old log or the new log, complete, with its replica id.
///
/// - Compacting again removes whatever was left beside the log.
/// - Each archive is a whole old log, and with the log they have all entries.
/// - The log can be compacted once more, and shows the same.
struct CompactionCheck: Sendable {
    /// The folder of the old logs.
    static let archive = "old"

    private let recording: Recording

    init(_ recording: Recording) { self.recording = recording }

    func check(_ log: URL) async throws {
        let before = try status(of: log)
        let done = try await compact(log, keeping: .everything)
        guard done.base == before.base, try status(of: log).sequence == before.sequence else {
            throw Finding.wrong("compacting again, keeping everything, led to base \(done.base)")
        }
        try await requireNothingElse(beside: log)
        try checkArchives(beside: log, through: before.base)
        let last = try await compact(log, keeping: .entries(1))
        guard last.base.value == before.sequence.value - 1 else {
            throw Finding.wrong("compacting to the last entry led to base \(last.base)")
        }
        try await requireNothingElse(beside: log)
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let verification = try reader.verify(Documents.self)
        guard verification.isSound, try reader.status().replica == before.replica else {
            throw Finding.wrong("after compacting once more: \(verification.findings)")
        }
    }

    private func compact(_ log: URL, keeping window: HistoryWindow) async throws -> Compaction {
        do throws(LogError) {
            return try await Store.compact(
                at: log, Documents.self, also: [AdditionalProjection(StoredDocuments.self)],
                keeping: window, archive: recording.scenario.isArchived ? archive(beside: log) : nil
            )
        } catch {
            throw Finding.unusable("it cannot be compacted again: \(error)")
        }
    }

    private func archive(beside log: URL) -> URL {
        log.deletingLastPathComponent().appending(
            path: Self.archive, directoryHint: .isDirectory)
    }

    private func status(of log: URL) throws -> StoreStatus {
        let reader = try LogReader(at: log)
        defer { reader.close() }
        return try reader.status()
    }

    private func requireNothingElse(beside log: URL) async throws {
        let folder = log.deletingLastPathComponent()
        // An app does this when it starts.
        try await Store<Documents>.finishWipes(in: folder)
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        let allowed: Set = recording.scenario.isArchived ? ["log", Self.archive] : ["log"]
        guard names.isSubset(of: allowed) else {
            throw Finding.wrong("these are left: \(names.sorted())")
        }
    }

    /// Checks that the archives have all entries up to the base of the log.
    private func checkArchives(beside log: URL, through base: LogSequence) throws {
        guard recording.scenario.isArchived else { return }
        let folder = archive(beside: log)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var archived: LogSequence = 0
        for _ in names {
            let prefix = "log-\(archived.value + 1)-"
            guard let name = names.first(where: { $0.hasPrefix(prefix) }),
                let last = UInt64(name.dropFirst(prefix.count))
            else { throw Finding.wrong("the archives are \(names.sorted())") }
            try check(folder.appending(path: name, directoryHint: .isDirectory), after: archived)
            archived = LogSequence(last)
        }
        guard archived == base else {
            throw Finding.wrong("the archives \(names.sorted()) end before base \(base)")
        }
    }

    private func check(_ archived: URL, after base: LogSequence) throws {
        let reader = try LogReader(at: archived)
        defer { reader.close() }
        let found = try reader.allEntries().map(\.text)
        let expected = recording.entries.dropFirst(Int(base.value)).prefix(found.count)
        let verification = try reader.verify(Documents.self)
        guard try reader.status().base == base, found == Array(expected), verification.isSound
        else {
            throw Finding.wrong(
                "\(archived.lastPathComponent) is not the old log: \(verification.findings)")
        }
    }
}
