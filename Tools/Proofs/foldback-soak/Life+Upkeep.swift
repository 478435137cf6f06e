import Foldback
import FoldbackHistory
import Foundation
import Processes

/// Compactions, backups, and the figures of a quarter.
extension Life {
    mutating func compact() async throws {
        bytesBefore.append(try bytesOfFile())
        let start = ContinuousClock.now
        let done = try await Store.compact(
            at: log, Shelf.self, also: also, keeping: .days(30), sources: time.sources)
        compactions.append((ContinuousClock.now - start) / .seconds(1))
        guard done.held.isEmpty else {
            throw Finding("day \(day): the compaction was held back: \(done.held)")
        }
        tallies.compactions += 1
        tallies.entriesRemoved += done.removed
        if day.isMultiple(of: Self.daysOfYear) { try await requireHistory() }
    }

    /// Backs up to a new folder, verifies the copy, and keeps this one and the one before.
    ///
    /// A backup does not replace an earlier one that has entries which a compaction has removed.
    mutating func backUp(_ store: Store<Shelf>) async throws {
        let digits = String(tallies.backups)
        let name = "backup-" + String(repeating: "0", count: 6 - digits.count) + digits
        let url = backups.appending(path: name, directoryHint: .isDirectory)
        let last = try await store.backup(to: url)
        tallies.backups += 1
        guard last == store.status.sequence else {
            throw Finding("day \(day): the backup ends at entry \(last)")
        }
        let reader = try LogReader(at: url)
        let also = also
        let verification = try await onThread { try reader.verify(Shelf.self, also: also) }
        reader.close()
        if let finding = verification.findings.first {
            throw Finding("day \(day): the backup is damaged: \(finding)")
        }
        for old in try backupNames().dropLast(2) {
            try FileManager.default.removeItem(at: backups.appending(path: old))
        }
    }

    func backupNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: backups.path).sorted()
    }

    private func bytesOfFile() throws -> Int {
        let path = log.appending(path: "data.mdb").path
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// Measures the closed log, right after a compaction.
    mutating func measured() async throws -> Quarter {
        let words = [
            executable("foldback-soak"), "open", log.path, "--now", String(time.now),
        ]
        let end = try await onThread { try run(words, errors: .inherited) }
        guard end.isSuccess else {
            throw Finding("day \(day): a process that opened the log failed: \(end.errors)")
        }
        let opening = try JSONDecoder().decode(OpeningReport.self, from: Data(end.output.utf8))
        defer { (compactions, bytesBefore) = ([], []) }
        return Quarter(
            number: day / Self.daysOfQuarter, intents: expected.states.count,
            entries: opening.entries, fileBytes: try bytesOfFile(),
            bytesBeforeCompaction: bytesBefore.max() ?? 0,
            openingMilliseconds: opening.milliseconds.min() ?? 0,
            residentBytes: opening.residentBytes, compactionSeconds: compactions.median)
    }
}
