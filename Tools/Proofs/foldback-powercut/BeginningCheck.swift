import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation

/// Opens a log whose beginning from a state was cut, and begins again, as an app that starts again.
///
/// - The log is the old log or the new log, with its replica id. It is the new log if the user heard so.
///   If no log was there before, it may be absent.
/// - The overlay has each intent of the old log once, under its id, except what the state has already.
///   Intents that were recorded since then come after them.
/// - The confirmed state is the old one or the server's, and `verify` finds nothing.
/// - Beginning again leads to the new log with the same intents, and leaves nothing else.
/// - A new intent is there after another opening.
struct BeginningCheck: Sendable {
    /// The keys that the old log's intents set, in order.
    static let keys = ["a", "b", "c", "d"]
    /// The intent that the server rejected.
    static let rejected = 4
    /// The key that an intent of the new log sets.
    static let newKey = "new"

    private let replica: ReplicaID
    /// The intents of the old log.
    private let oldCount: Int
    private let isBegun: Bool
    private let isNewRecorded: Bool

    /// - Parameter answered: the answers that the user has: one for each entry of the old log, then one
    ///   for the beginning, and one for the new intent.
    init(_ recording: Recording, answered: Int) {
        let entryCount = recording.scenario.sessions[0].lines.count
        replica = recording.replica
        oldCount = entryCount == 0 ? 0 : Self.keys.count
        isBegun = answered > entryCount
        isNewRecorded = answered > entryCount + 1
    }

    func check(_ log: URL) async throws {
        let isThere =
            FileManager.default.fileExists(atPath: log.path) || oldCount > 0 || isBegun
        let hasNew = isThere ? try await contents(of: log, replica, mustBeNew: isBegun) : false
        do throws(LogError) { try await begin(log) } catch {
            throw Finding.unusable("it cannot begin again: \(error)")
        }
        let folder = log.deletingLastPathComponent()
        try await Store<Documents>.finishWipes(in: folder)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        guard left == ["log"] else { throw Finding.wrong("these are left: \(left.sorted())") }
        let now = try await contents(of: log, isThere ? replica : nil, mustBeNew: true)
        guard now == hasNew else {
            throw Finding.wrong("beginning again changed the intents")
        }
        let store = try await open(log)
        let receipt = try await store.record(.set("after the cut", true))
        await store.close()
        let again = try await open(log)
        let last = again.overlay.last?.number
        await again.close()
        guard receipt.number.value == UInt64(oldCount + (hasNew ? 2 : 1)), last == receipt.number
        else {
            throw Finding.wrong("the new intent is \(receipt.number), the last is \(last as Any)")
        }
    }

    private func begin(_ log: URL) async throws(LogError) {
        do { try await ServerState.begin(at: log) } catch let error as LogError {
            throw error
        } catch {
            preconditionFailure("the state of the server cannot be made: \(error)")
        }
    }

    private func open(_ log: URL) async throws -> Store<Documents> {
        do throws(LogError) {
            return try await Store.open(
                at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
        } catch {
            throw Finding.unusable("\(error)")
        }
    }

    /// Checks the log, and returns whether it has the intent of the new log.
    ///
    /// - Parameter replica: its replica id; nil for any.
    private func contents(
        of log: URL, _ replica: ReplicaID?, mustBeNew: Bool
    ) async throws -> Bool {
        // A reader finds everything, although no store has opened the log since.
        let reader = try LogReader(at: log)
        let findings: [Verification.Finding]
        do {
            defer { reader.close() }
            findings = try reader.verify(Documents.self).findings
        }
        guard findings.isEmpty else { throw Finding.wrong("verify: \(findings)") }
        let store = try await open(log)
        let (status, ids) = (store.status, store.overlay.map(\.id))
        let (confirmed, rejections) = (store.confirmed.json, store.rejections)
        await store.close()
        let isNew = status.base > 0
        // The state of the server has the first intent, and the last one was rejected.
        var expected = oldCount == 0 ? [] : Array((isNew ? 2 : 1)..<Self.rejected)
        let hasNew = ids.last?.number.value == UInt64(oldCount + 1)
        if hasNew { expected.append(oldCount + 1) }
        guard hasNew || !isNewRecorded else {
            throw Finding.lost(promised: expected.count + 1, found: ids.count)
        }
        guard isNew || !mustBeNew else {
            throw Finding.wrong("the new log is promised, and the old log is back")
        }
        let own = replica ?? status.replica
        guard status.replica == own else {
            throw Finding.wrong("the log took the replica id \(status.replica)")
        }
        guard ids == expected.map({ IntentID(replica: own, number: IntentNumber(UInt64($0))) })
        else { throw Finding.wrong("the overlay has \(ids)") }
        guard rejections.map(\.value) == (oldCount == 0 ? [] : [UInt64(Self.rejected)]) else {
            throw Finding.wrong("the rejections are \(rejections)")
        }
        guard confirmed == (isNew ? ["of the server": 1] : ["old": 3]) else {
            throw Finding.wrong("the confirmed state is \(confirmed)")
        }
        return hasNew
    }
}
