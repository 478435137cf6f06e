import Foundation

/// The folder for the logs: one that a person chose, or a new folder that ends with this process.
struct DataFolder {
    let path: String
    private let isTemporary: Bool

    /// - Parameter path: nil for a new folder.
    init(_ path: String?) throws {
        isTemporary = path == nil
        if let path {
            self.path = path
            return
        }
        let files = FileManager.default
        self.path = files.temporaryDirectory.appending(path: "feed-web-\(UUID())").path
        // Only the user may read it.
        try files.createDirectory(
            atPath: self.path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    /// Removes the folder if it is temporary.
    func end() {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }
}
