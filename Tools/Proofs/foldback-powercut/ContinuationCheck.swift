import Foldback
import FoldbackShell
import FoldbackSync
import Foundation

/// Opens a log whose continuation on a new log was cut, and continues again, as an app that starts
/// again (N6).
///
/// - The log is the old log or the new log. It is the new log if the user heard so.
/// - Every promised intent is in the log or at the authority, and none is at both or twice.
/// - The view has their effects, and nothing of the lost authority.
/// - A rejection that the user has not dismissed is listed, and is not pending.
/// - `verify` finds nothing. Only the log and the old log are left, and the old log has everything.
/// - Bringing the old log's work again records nothing.
/// - A new intent is there after another opening.
struct ContinuationCheck: Sendable {
    /// The keys that the old log's intents set, in order. The second authority has the first intent.
    /// The lost authority had confirmed the second intent.
    static let keys = ["a", "b", "c", "d"]
    /// The intent that the lost authority rejected.
    static let rejected = 4
    /// The entries of the old log: an event of others, the intents, a confirmation, a rejection.
    private static let entryCount = keys.count + 3

    /// The intents that must be there.
    private let promised: Int
    private let isRejectionPromised: Bool
    private let isContinued: Bool

    /// - Parameters:
    ///   - promised: the promised entries of the old log. The first one is a confirmation.
    ///   - answered: the answers that the user has: one for each entry of the old log, and one when
    ///     the log has continued.
    init(promised: Int, answered: Int) {
        self.promised = min(max(0, promised - 1), Self.keys.count)
        isRejectionPromised = promised >= Self.entryCount
        isContinued = answered > Self.entryCount
    }

    func check(_ log: URL) async throws {
        let opened = try await Self.open(log)
        let lineage = opened.syncPoint.lineage
        let store = try await continued(opened)
        // A log without the lost authority's events is not superseded, and gets the others.
        let keptCount = store === opened && lineage == nil ? 0 : 1
        do {
            try await check(store)
            try await store.record(.set("after the cut", true))
        } catch {
            await store.close()
            throw error
        }
        let sequence = store.status.sequence
        await store.close()
        let folder = log.deletingLastPathComponent()
        try await Store<Documents>.finishWipes(in: folder)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let kept = try await LogDirectory(at: log).keptLogs()
        guard Set(left) == Set(([log] + kept).map(\.lastPathComponent)), kept.count == keptCount
        else { throw Finding.wrong("these are left: \(left.sorted())") }
        let again = try await Self.open(log)
        for old in kept { try await check(old, broughtTo: again) }
        let last = again.status.sequence
        await again.close()
        guard last == sequence else {
            throw Finding.wrong("after the new intent \(sequence), the log ends at \(last)")
        }
    }

    @Sendable private static func open(
        _ log: URL
    ) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// Returns the store of the log that has everything of the second authority.
    private func continued(_ store: Store<Documents>) async throws -> Store<Documents> {
        let authority = try await secondAuthority(after: store.status.replica)
        guard !isContinued || store.syncPoint.lineage == authority.lineage else {
            throw Finding.wrong("the user heard of the new log, and the old log is back")
        }
        do throws(SyncError) {
            _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
            return store
        } catch {
            guard case .superseded = error else { throw error }
        }
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: .pendingAndConfirmed, opening: Self.open)
        guard case .continued(let next, _) = result else {
            throw Finding.unusable("continuing ended with \(result)")
        }
        return next
    }

    /// Checks that the old log is whole, and brings its work again.
    private func check(_ kept: URL, broughtTo store: Store<Documents>) async throws {
        let old = try await Self.open(kept)
        guard old.status.nextIntent.value > promised, try await old.verify().isSound else {
            throw Finding.wrong("the old log ends at \(old.status.sequence)")
        }
        let sequence = store.status.sequence
        _ = try await store.bring(.pendingAndConfirmed, from: old)
        await old.close()
        guard store.status.sequence == sequence else {
            throw Finding.wrong("bringing again records: \(store.overlay.map(\.once))")
        }
    }

    private func check(_ store: Store<Documents>) async throws {
        // An intent that was carried has its old id as once key.
        let rejected = try store.rejections.map { try store.intent($0) }
        let ids =
            store.overlay.map { $0.once ?? "\($0.id)" } + rejected.map { $0.once ?? "\($0.id)" }
        let numbers = ids.compactMap { $0.split(separator: ".").last }.compactMap { Int($0) }
        guard Set(numbers).count == numbers.count, !numbers.contains(1) else {
            throw Finding.wrong("intents are doubled: \(ids)")
        }
        let found = Set(numbers).union([1])
        guard (0..<promised).allSatisfy({ found.contains($0 + 1) }) else {
            throw Finding.lost(promised: promised, found: found.count)
        }
        let isListed = rejected.contains { $0.once?.hasSuffix(".\(Self.rejected)") == true }
        guard rejected.count == (isListed ? 1 : 0), isListed || !isRejectionPromised else {
            throw Finding.wrong("the rejections are \(rejected.map(\.once))")
        }
        var members: [String] = Self.keys.indices
            .filter { found.contains($0 + 1) && !(isListed && $0 + 1 == Self.rejected) }
            .map { Self.keys[$0] }
        members.append("theirs")
        let shown = store.view.json.objectValue?.members.map(\.name.string) ?? []
        guard shown.sorted() == members.sorted(), store.view.json["a"] == 1 else {
            throw Finding.wrong("the view is \(store.view.json), with the intents \(ids)")
        }
        let verification = try await store.verify()
        guard verification.isSound else {
            throw Finding.wrong("verify: \(verification.findings)")
        }
    }
}
