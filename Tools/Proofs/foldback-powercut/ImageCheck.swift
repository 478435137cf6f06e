import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation
import Processes

/// What is wrong with an image.
enum Finding: Error, CustomStringConvertible {
    /// Entries that were promised are not there.
    case lost(promised: Int, found: Int)
    /// The log cannot be opened, read or written.
    case unusable(String)
    /// The log can be used, and it is wrong.
    case wrong(String)

    /// Whether entries are missing, or all of them cannot be reached.
    var isLoss: Bool {
        switch self {
        case .lost, .unusable: true
        case .wrong: false
        }
    }

    var description: String {
        switch self {
        case .lost(let promised, let found):
            "entries are lost: \(promised) were promised, \(found) are there"
        case .unusable(let error): "the log cannot be used: \(error)"
        case .wrong(let what): what
        }
    }
}

/// Opens a log after a power cut, as an app that starts again, and compares it with the recording.
///
/// - A reader finds all promised entries, although no store has opened the log since.
/// - The log opens, and `verify` finds nothing.
/// - Its entries are the first entries of the recording, and all promised entries are among them.
/// - Documents in memory or in rows equal a fold of the recorded entries up to there.
/// - A new intent gets the next number under the same replica id, and is there after another
///   opening.
/// - An import is whole, or can be done again.
/// - For compactions, backups, and logs that begin from a state: ``CompactionCheck``, ``BackupCheck``
///   and ``BeginningCheck``.
struct ImageCheck: Sendable {
    let recording: Recording
    /// The entries that must be there.
    let promised: Int
    /// The answers that the user has.
    let answered: Int
    /// The base and the backup that the user has heard of.
    let heard: (base: Int, backup: Int)

    init(_ cut: Cut, of recording: Recording) {
        self.recording = recording
        promised = recording.promised[cut.operationCount]
        answered = recording.answered[cut.operationCount]
        heard = recording.heard[cut.operationCount]
    }

    func finding(in log: URL) async -> Finding? {
        do {
            guard !recording.scenario.isContinuing else {
                try await ContinuationCheck(promised: promised, answered: answered).check(log)
                return nil
            }
            guard !recording.scenario.isBeginning else {
                try await BeginningCheck(recording, answered: answered).check(log)
                return nil
            }
            if promised > 0 { try read(log) }
            if recording.scenario.isImport, try importAgain(into: log) == 0 { return nil }
            let backup = BackupCheck(recording, heard: heard.backup)
            if recording.scenario.isBackedUp { try backup.check(besideLogAt: log) }
            switch recording.scenario.store {
            case .memory: try await check(log, Documents.self)
            case .rows: try await check(log, StoredDocuments.self)
            }
            if recording.scenario.isBackedUp { try await backup.backUpAgain(log) }
            if recording.scenario.compactingSession != nil {
                try await CompactionCheck(recording).check(log)
            }
            return nil
        } catch let finding as Finding {
            return finding
        } catch {
            return .unusable("\(error)")
        }
    }

    /// Reads the log as `foldback log` does, which changes nothing (L9).
    private func read(_ log: URL) throws {
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let last = try reader.lastSequence().value
        guard last >= UInt64(promised) else {
            throw Finding.lost(promised: promised, found: Int(last))
        }
        guard try reader.entries(from: LogSequence(last), countMax: 1).count == 1 else {
            throw Finding.wrong("a reader does not find the last entry, \(last)")
        }
    }

    private func check<P: ShownDocuments>(_ log: URL, _ documents: P.Type) async throws {
        let count = try await using(log, documents) { store in
            let count = try await contents(of: store)
            let receipt = try await store.record(.set("after the cut", true))
            let intents = recording.intentCounts[count]
            guard receipt.number.value == UInt64(intents + 1) else {
                throw Finding.wrong(
                    "the new intent got number \(receipt.number), not \(intents + 1)")
            }
            // A recorded opening after a power cut saw new files, and so a copy.
            let mayBeCopy = recording.scenario.isImport || recording.scenario.isAfterCut
            if count > 0, !mayBeCopy, store.status.replica != recording.replica {
                throw Finding.wrong("the log took the replica id \(store.status.replica)")
            }
            return count
        }
        try await using(log, documents) { store in
            let sequence = store.status.sequence
            guard sequence.value == UInt64(count + 1) else {
                throw Finding.wrong(
                    "after the new intent \(count + 1), the log ends at \(sequence)")
            }
            try await verify(store)
        }
    }

    private func using<P: ShownDocuments, R>(
        _ log: URL, _ documents: P.Type, _ body: (Store<P>) async throws -> R
    ) async throws -> R {
        let store = try await Store.open(
            at: log, documents, existingOr: recording.scenario.kind, durability: .durable)
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }

    /// Compares everything in the log with the recording. Returns the number of its entries.
    private func contents<P: ShownDocuments>(of store: Store<P>) async throws -> Int {
        var count = Int(store.status.base.value)
        guard count >= heard.base else {
            throw Finding.wrong("the user heard of base \(heard.base), and the base is \(count)")
        }
        while case let piece = try store.entries(
            from: LogSequence(UInt64(count + 1)), countMax: 500),
            !piece.isEmpty
        {
            for entry in piece {
                guard count < recording.entries.count, entry.text == recording.entries[count] else {
                    throw Finding.wrong("entry \(count + 1) is not the recorded entry")
                }
                count += 1
            }
        }
        guard count >= promised else { throw Finding.lost(promised: promised, found: count) }
        if recording.scenario.isImport, count != recording.entries.count {
            throw Finding.wrong("\(count) of \(recording.entries.count) entries were imported")
        }
        let shown = try P.state(of: store)
        let fold = ShownState(
            try recording.history.snapshot(of: Documents.self, at: store.status.sequence))
        guard shown.sequence == fold.sequence, shown.documents == fold.documents,
            shown.confirmed == fold.confirmed, shown.conflicted == fold.conflicted
        else { throw Finding.wrong("the documents differ from a fold of the recorded entries") }
        try await verify(store)
        return count
    }

    private func verify<P: ShownDocuments>(_ store: Store<P>) async throws {
        let verification = try await store.verify()
        guard verification.isSound, verification.notCompared.isEmpty else {
            throw Finding.wrong(
                "verify: \(verification.findings), not compared: \(verification.notCompared)")
        }
    }

    /// Imports again if nothing was imported, and returns the number of entries before that.
    private func importAgain(into log: URL) throws -> Int {
        let count = try entryCount(of: log)
        guard count == 0 else { return count }
        guard promised == 0 else { throw Finding.lost(promised: promised, found: 0) }
        let end = try run(
            [executable("foldback"), "import", recording.importedFile.path, log.path],
            output: .none)
        guard end.status == 0 else {
            throw Finding.unusable("the import cannot be done again: \(end.errors)")
        }
        guard try entryCount(of: log) == recording.entries.count else {
            throw Finding.wrong("the second import is not whole")
        }
        return 0
    }

    private func entryCount(of log: URL) throws -> Int {
        let reader: LogReader
        do throws(LogError) { reader = try LogReader(at: log) } catch {
            guard case .missing = error else { throw error }
            return 0
        }
        defer { reader.close() }
        return try reader.history().count
    }
}
