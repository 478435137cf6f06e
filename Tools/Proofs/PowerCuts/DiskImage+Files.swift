import Foundation

extension DiskImage {
    /// Writes the image's files and directories into a directory, which may be missing.
    ///
    /// - Throws: errors of the file system.
    public func write(to root: URL) throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for item in items {
            let path = root.appending(path: item.path)
            if let bytes = item.bytes {
                try Data(bytes).write(to: path)
            } else {
                try FileManager.default.createDirectory(
                    at: path, withIntermediateDirectories: false)
            }
        }
    }
}
