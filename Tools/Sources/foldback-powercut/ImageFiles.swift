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
        try Self.write(image, to: root)
        for item in image.items where item.bytes != nil {
            let path = root.appending(path: item.path).path
            let identity = recorded_identity_give(path, item.id.inode, item.id.birth)
            guard identity >= 0 else {
                throw RecordingError("the image's file \(path) gets no identity")
            }
            identities.append(identity)
        }
    }

    /// Writes the image's files into a directory, which may be missing.
    static func write(_ image: DiskImage, to root: URL) throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for item in image.items {
            let path = root.appending(path: item.path)
            if let bytes = item.bytes {
                try Data(bytes).write(to: path)
            } else {
                try FileManager.default.createDirectory(
                    at: path, withIntermediateDirectories: false)
            }
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
