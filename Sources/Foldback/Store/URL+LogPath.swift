#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension URL {
    /// Returns the path of a log's directory.
    ///
    /// - Throws: `.notALog` if this is not a file URL. The path of a web address is a path on this
    ///   machine's disk as well, and a log would be created there.
    package func logPath() throws(LogError) -> String {
        guard isFileURL else {
            throw .notALog(path: absoluteString, reason: "it is not a file URL")
        }
        return path
    }
}
