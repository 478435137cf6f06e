import Foundation

/// The folder for the logs: one that a person chose, or a new folder that ends with this process.
struct DataFolder {
    let path: String
    private let isTemporary: Bool

    /// - Parameter path: nil for a new folder.
    init(_ path: String?) throws(StartError) {
        isTemporary = path == nil
        if let path {
            self.path = path
            return
        }
        let pattern = FileManager.default.temporaryDirectory.appending(path: "feed-web-XXXXXX")
        var name = Array(pattern.path.utf8CString)
        guard mkdtemp(&name) != nil else {
            let reason = String(cString: strerror(errno))
            throw StartError("no folder can be made at \(pattern.path): \(reason)")
        }
        self.path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes the folder if it is temporary.
    func end() {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }
}
