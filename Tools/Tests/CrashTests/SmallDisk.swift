import Foundation
import Processes

/// A mounted file system of a few MiB.
struct SmallDisk {
    let url: URL

    /// Mounts the file system; nil if this process cannot.
    init?(_ type: String, at url: URL) throws {
        self.url = url
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let command: [String]
        if type == "ext4" {
            let image = url.path + ".img"
            let make = "truncate -s 6M '\(image)' && PATH=$PATH:/sbin mkfs.ext4 -q -m 0 '\(image)'"
            guard try run(["bash", "-c", make]).status == 0 else { return nil }
            command = ["mount", "-o", "loop", image, url.path]
        } else {
            command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", url.path]
        }
        guard try run(command).status == 0 else { return nil }
    }

    func unmount() { _ = try? run(["umount", "-l", url.path]) }
}
