import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a superseded log and its successor are: everything that continuing does outside of the two
/// stores (N6).
package protocol SuccessorPlace<P>: Sendable {
    associatedtype P: EventFold

    /// The directory that the superseded log gets; nil if it is in memory.
    var keptLog: URL? { get }

    /// Opens the successor, with what an interrupted call left in it.
    ///
    /// - Throws: `.tooManyKeptLogs` if the superseded log could not be kept.
    func openSuccessor() async throws(LogError) -> Store<P>

    /// Removes the successor, whose store is closed.
    func wipeSuccessor() async throws(LogError)

    /// Puts the successor in the place of the superseded log, whose store is closed, keeps that log
    /// beside it, and returns the store to continue with.
    ///
    /// - Parameters:
    ///   - old: the status of the superseded log when its store was closed.
    ///   - successor: the flushed successor. It is closed here if its log is in files.
    ///   - carried: the unsettled intents of the superseded log that the successor has.
    func replace(
        _ old: StoreStatus, by successor: Store<P>, carried: Set<IntentID>
    ) async throws(LogError) -> Store<P>

    /// Calls `body` and waits for it, also if the task is canceled. `body` does not see that.
    func uncanceled<R: Sendable>(_ body: @escaping @Sendable () async -> R) async -> R
}

extension SuccessorPlace {
    package func uncanceled<R: Sendable>(_ body: @escaping @Sendable () async -> R) async -> R {
        await SuccessorLog.uncanceled(body)
    }
}

/// Two logs in files, beside each other.
struct SuccessorFiles<P: EventFold>: SuccessorPlace {
    /// The path of the superseded log.
    let path: String
    /// Its replica id.
    let replica: ReplicaID
    let open: @Sendable (URL) async throws(LogError) -> Store<P>

    var keptLog: URL? {
        URL(
            filePath: KeptLogs.path(of: replica, beside: path), directoryHint: .isDirectory)
    }

    func openSuccessor() async throws(LogError) -> Store<P> {
        try await SuccessorLog.prepare(path: path, replica: replica)
        return try await open(
            URL(filePath: SuccessorLog.path(of: path), directoryHint: .isDirectory))
    }

    func wipeSuccessor() async throws(LogError) { try await SuccessorLog.wipe(of: path) }

    func replace(
        _ old: StoreStatus, by successor: Store<P>, carried: Set<IntentID>
    ) async throws(LogError) -> Store<P> {
        await successor.close()
        try await SuccessorLog.replace(old, carried: carried)
        return try await open(URL(filePath: path, directoryHint: .isDirectory))
    }
}

/// Two logs in memory. The successor needs no other place.
struct SuccessorInMemory<P: EventFold>: SuccessorPlace {
    let path: String
    let open: @Sendable (URL) async throws(LogError) -> Store<P>

    var keptLog: URL? { nil }

    func openSuccessor() async throws(LogError) -> Store<P> {
        try await open(URL(filePath: SuccessorLog.path(of: path), directoryHint: .isDirectory))
    }

    func wipeSuccessor() {}

    func replace(
        _ old: StoreStatus, by successor: Store<P>, carried: Set<IntentID>
    ) -> Store<P> { successor }
}
