#if ReplayTool
    import ArgumentParser
    import Foundation

    /// The log of a command, whose files the command's output must not replace.
    ///
    /// Every command that writes a file asks it: first before a long computation, and again in
    /// ``Output/writing(to:sparing:_:)``. It compares devices and inodes, because links and mounts
    /// give one file many paths.
    struct SparedLog {
        /// The path of the log's directory; nil if the command reads a file.
        private let path: String?

        init(_ log: LogArgument) { path = log.isFile ? nil : log.path }
        init(_ log: DirectoryArgument) { path = log.path }

        /// Requires that a command may write to a path: a file, or a folder for files.
        ///
        /// Refuses the folders and files of the command's log, the folder of any other log, and
        /// paths that lead there through links, also through links to missing files.
        ///
        /// - Throws: `ValidationError`, or ``StreamFailure`` if the links form a loop.
        func requireSpared(by output: String) throws {
            let place = try Self.followed(output)
            try refuse(output, at: place, "writing there would destroy the log")
            // A folder that does not exist yet would be created in the nearest folder.
            let folders = Self.ancestors(of: place).first { FileIdentity($0)?.isDirectory ?? false }
            guard let folder = folders, FileIdentity("\(folder)/data.mdb") != nil else { return }
            throw ValidationError(
                "\(output) is inside the log \(folder), and writing there could destroy the log; give a path outside it"
            )
        }

        /// Requires that a file to import is not in the folder of the new log, where the log's own
        /// files would replace it.
        func requireOutside(input: String) throws {
            guard input != "-" else { return }
            try refuse(
                input, at: try Self.followed(input), "the log's own files would replace it")
        }

        /// - Throws: `ValidationError` if a place without links is in the log's directory, or is a
        ///   file of the log.
        private func refuse(_ given: String, at place: String, _ reason: String) throws {
            guard let path, let log = FileIdentity(path), log.isDirectory else { return }
            let isInside = Self.ancestors(of: place).contains { FileIdentity($0) == log }
            guard isInside || isFile(place, ofLogAt: path) else { return }
            throw ValidationError(
                "\(given) \(isInside ? "is inside" : "is a file of") the log \(path), and \(reason); give a path outside it"
            )
        }

        /// Whether a file is also a file of the log under another name: a hard link, or the target
        /// of a link in the log's directory.
        private func isFile(_ place: String, ofLogAt path: String) -> Bool {
            guard let file = FileIdentity(place) else { return false }
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.contains { FileIdentity("\(path)/\($0)") == file }
        }

        /// Returns the place itself, its folder, and so on up to the root.
        private static func ancestors(of place: String) -> [String] {
            var names = place.split(separator: "/")
            var places: [String] = []
            while !names.isEmpty {
                places.append("/" + names.joined(separator: "/"))
                names.removeLast()
            }
            return places + ["/"]
        }

        /// Returns the absolute path that a path leads to, without links and dots.
        ///
        /// `realpath` cannot replace this function, because it refuses missing files. A command
        /// creates missing files, also through a link.
        private static func followed(_ path: String) throws -> String {
            func parts(_ path: String) -> [Substring] { path.split(separator: "/").reversed() }
            var rest = parts(path)
            if !path.hasPrefix("/") { rest += parts(FileManager.default.currentDirectoryPath) }
            var done: [Substring] = []
            // The system follows at most 40 links (path_resolution(7)).
            var linksLeft = 40
            while let name = rest.popLast() {
                guard name != "." else { continue }
                guard name != ".." else {
                    _ = done.popLast()
                    continue
                }
                let place = "/" + (done + [name]).joined(separator: "/")
                guard let target = target(ofLink: place) else {
                    done.append(name)
                    continue
                }
                linksLeft -= 1
                guard linksLeft > 0 else {
                    errno = ELOOP
                    throw StreamFailure.unwritable(path)
                }
                if target.hasPrefix("/") { done = [] }
                rest += parts(target)
            }
            return "/" + done.joined(separator: "/")
        }

        /// Returns the text of a link; nil if the path is not a link.
        private static func target(ofLink path: String) -> String? {
            let bytesMax = Int(PATH_MAX)
            var text = [CChar](repeating: 0, count: bytesMax)
            let count = readlink(path, &text, bytesMax)
            guard count >= 0 else { return nil }
            return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The file that a path leads to. Two paths with equal identities lead to one file.
    private struct FileIdentity: Equatable {
        private let device: dev_t
        private let inode: ino_t
        let isDirectory: Bool

        /// Nil if the file does not exist.
        init?(_ path: String) {
            var found = stat()
            guard stat(path, &found) == 0 else { return nil }
            device = found.st_dev
            inode = found.st_ino
            isDirectory = found.st_mode & S_IFMT == S_IFDIR
        }
    }
#endif
