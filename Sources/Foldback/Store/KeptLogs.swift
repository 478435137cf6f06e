import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The superseded logs that a log has continued. They stay beside it (N6).
package enum KeptLogs {
    /// Returns the path that the log at `path` gets when another log continues it.
    ///
    /// Only the replica id decides the name. A lineage is bytes from a server, and no file name.
    package static func path(of replica: ReplicaID, beside path: String) -> String {
        let name = Array(replica.description.utf8)
        return KeptName.path(
            beside: path, hash: name.withUnsafeBytes { Checksum.of($0, seed: 0) })
    }

    /// Returns the paths of the logs that are kept beside the log at `path`, ascending.
    static func all(beside path: String) throws(LogError) -> [String] {
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try KeptName.all(beside: path)
        }
    }

    /// Returns why the entries of the log at `path` must stay: a log is kept beside it, and they tell what of
    /// that log's work is there already (N6). Nil if none is kept.
    static func reasonToStay(of path: String) throws(LogError) -> String? {
        try all(beside: path).first.map {
            "the log \($0) is kept, and its work may be brought again; wipe it first"
        }
    }

    /// Checks that one more log can be kept beside the log at `path`.
    ///
    /// - Throws: `.tooManyKeptLogs`.
    static func requireRoom(beside path: String) throws(LogError) {
        let paths = try all(beside: path)
        guard paths.count < Limits.keptLogsMax else { throw .tooManyKeptLogs(paths: paths) }
    }
}

extension LogDirectory {
    /// Returns the directories of the superseded logs that this log has continued, in order of their
    /// names (N6).
    ///
    /// `continueOnNewLog` of FoldbackSync keeps them, at most three. Each is a complete log: open it
    /// with a store or with `LogReader`, and remove it with ``Store/wipe(at:discardingPending:)``. It
    /// may have pending intents, and this log has copies of them. If continuing is cut off, the new
    /// log can be among them until the next call.
    ///
    /// A store may have this log open. Runs on its own thread. Suspends the caller.
    ///
    /// - Throws: `.notALog`, `.storage` if the parent directory cannot be read.
    /// - Complexity: reads the names in the parent directory.
    public func keptLogs() async throws(LogError) -> [URL] {
        let path = try url.logPath()
        return try await Platform.onThread { () throws(LogError) in
            try KeptLogs.all(beside: path)
        }.map { URL(filePath: $0, directoryHint: .isDirectory) }
    }
}
