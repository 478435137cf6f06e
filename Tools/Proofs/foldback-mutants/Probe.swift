import Foldback
import Foundation

/// A question that no law can ask: about a log's files, about readers beside the writer, or about an
/// authority or an edition of the app that the histories of a law do not have.
enum Probe: String, CaseIterable, Sendable {
    /// Does a data file with two names open?
    case linkedFile = "linked file"
    /// Is a command recorded after another file has taken the log's place?
    case replacedFile = "replaced file"
    /// Does a log open whose creation left a file of zeros?
    case unfinishedFile = "unfinished file"
    /// Does a log that is wiped and made again repeat an intent's id?
    case wipedLog = "wiped log"
    /// Does a wipe remove a pending intent unasked?
    case wipeOfPending = "wipe of pending intents"
    /// Does a wipe remove anything from a directory with a file of others?
    case wipeAmongOthers = "wipe among others"
    /// Does finishing the wipes remove a log that nobody wiped?
    case wipeOfOthers = "wipe of another log"
    /// Does the writer wait for callers that do not come back?
    case absentCallers = "absent callers"
    /// Does a caller record that was canceled before?
    case canceledCaller = "canceled caller"
    /// Does a store on a damaged page record, or vouch for a settlement?
    case damagedPage = "damaged page"
    /// Are rows read before the view shows their commit?
    case firstRows = "first rows"
    /// Does code that has learned an event use a checkpoint that lacks it?
    case learnedEvent = "learned event"
    /// Does code that has learned an event fold from the first entry, although it had an anchor?
    case droppedAnchor = "dropped anchor"
    /// Is an answer recorded whose authority has less than the log has from it?
    case lowHead = "low head"
    /// Is an intent lost that is recorded while its log continues on a new log?
    case lateIntents = "late intents"
    /// Does a fetch miss the event that comes right after the last fetch?
    case nextEvent = "next event"
    /// Does an outbox send other bytes than the log has?
    case sentBytes = "sent bytes"
    /// Does a rerun miss the end of a difference?
    case endOfDifference = "end of a difference"
    /// Does a rerun miss a difference that no part shows?
    case hiddenDifference = "hidden difference"

    /// Asks, and returns whether the answer shows a fault.
    nonisolated(nonsending) func findsFault() async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "foldback-probe-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appending(path: "log", directoryHint: .isDirectory)
        switch self {
        case .linkedFile: return try await opensLinkedFile(log, in: folder)
        case .replacedFile: return try await recordsIntoReplacedFile(log, in: folder)
        case .unfinishedFile: return try await refusesUnfinishedFile(log)
        case .wipedLog: return try await repeatsIDs(log)
        case .wipeOfPending:
            try await makeLog(log)
            return await succeeds { () throws(LogError) in
                try await Store<CorrectProjection>.wipe(at: log)
            }
        case .wipeAmongOthers: return try await wipesAmongOthers(log)
        case .wipeOfOthers:
            try await makeLog(log)
            _ = await succeeds { () throws(LogError) in
                try await Store<CorrectProjection>.finishWipes(in: folder)
            }
            return !FileManager.default.fileExists(atPath: log.path)
        case .learnedEvent: return try await LearnedSum<NewLimit>.reopened(log).view.sum != 106
        case .droppedAnchor:
            return try await LearnedSum<NewLimit>.reopened(log).replayStart.checkpoint == 0
        case .firstRows:
            for number in 0..<20 {
                let log = folder.appending(path: "log-\(number)", directoryHint: .isDirectory)
                if try await showsRowsEarly(log) { return true }
            }
            return false
        case .absentCallers: return try await waitsForAbsentCallers(log)
        case .canceledCaller: return try await recordsWhenCanceled(log)
        case .damagedPage: return try await usesDamagedFile(log)
        case .lowHead: return try await recordsAfterLoss(log)
        case .lateIntents:
            for number in 0..<20 {
                let log = folder.appending(path: "log-\(number)", directoryHint: .isDirectory)
                if try await losesLateIntents(log) { return true }
            }
            return false
        case .nextEvent: return try await missesNextEvent(log)
        case .sentBytes: return try await sendsOtherBytes(log)
        case .endOfDifference: return try await missesEndOfDifference()
        case .hiddenDifference: return try await missesHiddenDifference()
        }
    }

    nonisolated(nonsending) func open(
        _ log: URL, replica: NewReplica = .random
    ) async throws(LogError) -> Store<CorrectProjection> {
        try await Store.open(
            at: log, CorrectProjection.self, also: [AdditionalProjection(CorrectRows.self)],
            confirmedBy: .acknowledgement, durability: .relaxed, replica: replica)
    }

    /// Returns whether `body` succeeds.
    nonisolated(nonsending) func succeeds<E: Error>(
        _ body: () async throws(E) -> Void
    ) async -> Bool {
        do throws(E) {
            try await body()
            return true
        } catch {
            return false
        }
    }

    private nonisolated(nonsending) func opensLinkedFile(
        _ log: URL, in folder: URL
    ) async throws -> Bool {
        await (try open(log)).close()
        try FileManager.default.linkItem(
            at: log.appending(path: "data.mdb"), to: folder.appending(path: "link"))
        return await succeeds { () throws(LogError) in await (try open(log)).close() }
    }

    private nonisolated(nonsending) func recordsIntoReplacedFile(
        _ log: URL, in folder: URL
    ) async throws -> Bool {
        let store = try await open(log)
        _ = try await store.record(.added(1))
        let file = log.appending(path: "data.mdb")
        try Data(contentsOf: file).write(to: file, options: .atomic)
        let isRecorded = await succeeds { () throws(CommandError) in
            _ = try await store.record(.added(1))
        }
        await store.close()
        return isRecorded
    }

    private nonisolated(nonsending) func refusesUnfinishedFile(_ log: URL) async throws -> Bool {
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        try Data(repeating: 0, count: 8_192).write(to: log.appending(path: "data.mdb"))
        return await !succeeds { () throws(LogError) in await (try open(log)).close() }
    }

    private nonisolated(nonsending) func repeatsIDs(_ log: URL) async throws -> Bool {
        var seen: Set<IntentID> = []
        for _ in 1...2 {
            let store = try await open(log, replica: .named("phone"))
            seen.insert(try await store.record(.added(1)).id)
            await store.close()
            try FileManager.default.removeItem(at: log)
        }
        return seen.count < 2
    }

    /// Makes a log with one pending intent.
    private nonisolated(nonsending) func makeLog(_ log: URL) async throws {
        let store = try await open(log)
        _ = try await store.record(.added(1))
        await store.close()
    }

    private nonisolated(nonsending) func wipesAmongOthers(_ log: URL) async throws -> Bool {
        try await makeLog(log)
        try Data().write(to: log.appending(path: "letter.txt"))
        let names = try FileManager.default.contentsOfDirectory(atPath: log.path)
        _ = await succeeds { () throws(LogError) in
            try await Store<CorrectProjection>.wipe(at: log, discardingPending: true)
        }
        let left = try? FileManager.default.contentsOfDirectory(atPath: log.path)
        return left.map(Set.init) != Set(names)
    }

    private nonisolated(nonsending) func showsRowsEarly(_ log: URL) async throws -> Bool {
        let store = try await open(log)
        async let receipt = store.record(.added(1))
        var sequence: LogSequence = 0
        while sequence == 0 {
            sequence = try store.projected(CorrectRows.self).read { $0.sequence }
            if sequence > store.status.sequence {
                _ = try await receipt
                await store.close()
                return true
            }
            await Task.yield()
        }
        _ = try await receipt
        await store.close()
        return false
    }
}
