import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation

/// Looks at the place of a backup after a power cut (BK1). ``ImageCheck`` looks at the log itself.
///
/// - The place has a whole backup, with entries of the recording, or nothing. It has the backup that
///   the user has heard of, or a later backup.
/// - Besides the log, the backup, and a backup that was cut off, nothing is there.
/// - Another backup replaces it, and removes what was cut off.
struct BackupCheck: Sendable {
    /// The directory beside the log.
    static let name = "backup"

    private let recording: Recording
    /// The last entry of the backup that must be there; 0 if none must.
    private let heard: Int

    init(_ recording: Recording, heard: Int) { (self.recording, self.heard) = (recording, heard) }

    func check(besideLogAt log: URL) throws {
        let names = try names(beside: log)
        guard names.isSubset(of: ["log", Self.name, "\(Self.name).new"]) else {
            throw Finding.wrong("these are left: \(names.sorted())")
        }
        guard names.contains(Self.name) else {
            guard heard == 0 else { throw Finding.lost(promised: heard, found: 0) }
            return
        }
        let reader: LogReader
        do { reader = try LogReader(at: place(beside: log)) } catch {
            throw Finding.unusable("the backup cannot be read: \(error)")
        }
        defer { reader.close() }
        let found = try reader.allEntries().map(\.text)
        guard found == Array(recording.entries.prefix(found.count)) else {
            throw Finding.wrong("the backup has other entries than the log")
        }
        guard found.count >= heard else {
            throw Finding.lost(promised: heard, found: found.count)
        }
        let verification = try reader.verify(Documents.self)
        guard verification.isSound else {
            throw Finding.wrong("verify of the backup: \(verification.findings)")
        }
    }

    func backUpAgain(_ log: URL) async throws {
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let last: LogSequence
        do throws(LogError) { last = try await reader.backup(to: place(beside: log)) } catch {
            throw Finding.unusable("it cannot be backed up again: \(error)")
        }
        let copy = try LogReader(at: place(beside: log))
        defer { copy.close() }
        guard try last == reader.lastSequence(), try last == copy.lastSequence() else {
            throw Finding.wrong("the next backup ends at \(last)")
        }
        let names = try names(beside: log)
        guard names == ["log", Self.name] else {
            throw Finding.wrong("after the next backup, these are left: \(names.sorted())")
        }
    }

    private func place(beside log: URL) -> URL {
        log.deletingLastPathComponent().appending(path: Self.name, directoryHint: .isDirectory)
    }

    private func names(beside log: URL) throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(
                atPath: log.deletingLastPathComponent().path))
    }
}
