import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A folder that is removed with this value. It is in memory if the system has a memory file
/// system.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Throws: an error of the file system.
    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? memory : FileManager.default.temporaryDirectory.path
        var template = Array("\(base)/foldback-XXXXXX\0".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw CocoaError(.fileWriteUnknown)
        }
        url = URL(filePath: String(cString: path), directoryHint: .isDirectory)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
