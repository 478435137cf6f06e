import Foundation

/// Directories for recordings, on a real disk, and for images, in memory if the system has a
/// directory for that.
struct WorkDirectory {
    let recordings: URL
    let scratch: URL

    init() throws {
        let name = "foldback-powercut-\(ProcessInfo.processInfo.processIdentifier)"
        recordings = FileManager.default.temporaryDirectory.appending(path: name)
        let memory = URL(filePath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        scratch = base.appending(path: name + "-images")
        for directory in [recordings, scratch] {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: recordings)
        try? FileManager.default.removeItem(at: scratch)
    }
}
