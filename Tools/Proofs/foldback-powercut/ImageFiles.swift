import CRecordedIdentity
import Foundation
import PowerCuts

/// A disk image as real files, which Foldback sees under their recorded inodes and birth times.
final class ImageFiles {
    let root: URL
    private var identities: [Int32] = []

    /// Writes the image into an empty directory.
    ///
    /// - Throws: errors of the file system; `RecordingError` if an identity cannot be given.
    init(_ image: DiskImage, in root: URL) throws {
        self.root = root
        try image.write(to: root)
        for item in image.items where item.bytes != nil {
            let path = root.appending(path: item.path).path
            let identity = recorded_identity_give(path, item.id.inode, item.id.birth)
            guard identity >= 0 else {
                throw RecordingError("the image's file \(path) gets no identity")
            }
            identities.append(identity)
        }
    }

    var log: URL { root.appending(path: "log", directoryHint: .isDirectory) }

    /// Removes the files.
    func remove() {
        for identity in identities { recorded_identity_take(identity) }
        identities = []
        try? FileManager.default.removeItem(at: root)
    }

    deinit { remove() }
}
