import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// A hard link let two stores write one data file, and links in a prepared folder were followed. So
/// which folders may a log use (L8)?
@Suite struct UnsafeFolderTests {
    private let directory = TemporaryDirectory()
    private let manager = FileManager.default

    private func open(_ url: URL? = nil) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url ?? directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// Creates a log with one intent.
    private func makeLog() async throws {
        let store = try await open()
        _ = try await store.record(.set("a", 1))
        await store.close()
    }

    private var other: URL { directory.url.appending(path: "other", directoryHint: .isDirectory) }

    /// Makes a second directory whose data file is the first directory's.
    private func linkDataFile() throws {
        try manager.createDirectory(at: other, withIntermediateDirectories: false)
        try manager.linkItem(
            at: directory.log.appending(path: "data.mdb"), to: other.appending(path: "data.mdb"))
    }

    private func requireUnsafe(
        _ error: LogError?, _ words: String, at location: SourceLocation = #_sourceLocation
    ) {
        guard case .unsafeFile = error else {
            Issue.record("\(String(describing: error))", sourceLocation: location)
            return
        }
        #expect(error?.description.contains(words) == true, sourceLocation: location)
    }

    @Test func `L8: a data file with two hard links opens in neither directory`() async throws {
        try await makeLog()
        try linkDataFile()
        for url in [directory.log, other] {
            let refused = await error { () throws(LogError) in try await open(url) }
            requireUnsafe(refused, "data.mdb has 2 hard links")
            let reader = await error { () throws(LogError) in try LogReader(at: url) }
            requireUnsafe(reader, "data.mdb has 2 hard links")
        }
        try manager.removeItem(at: other)
        await (try open()).close()
    }

    /// After the first name is removed, the file has one name again, in another directory.
    @Test func `L8: a data file that a store has open does not open under another name`()
        async throws
    {
        let store = try await open()
        try linkDataFile()
        try manager.removeItem(at: directory.log.appending(path: "data.mdb"))
        let second = await error { () throws(LogError) in try await open(other) }
        guard case .locked(_, holder: .thisProcess) = second else {
            Issue.record("\(String(describing: second))")
            return
        }
        await store.close()
        await (try open(other)).close()
    }

    @Test(arguments: ["data.mdb", "lock.mdb"])
    func `a file of the log that is a symbolic link is refused`(name: String) async throws {
        try await makeLog()
        let place = directory.log.appending(path: name)
        let target = directory.url.appending(path: "target")
        try manager.moveItem(at: place, to: target)
        let before = try Data(contentsOf: target)
        try manager.createSymbolicLink(at: place, withDestinationURL: target)
        let refused = await error { () throws(LogError) in try await open() }
        requireUnsafe(refused, "\(name) is a symbolic link")
        #expect(try Data(contentsOf: target) == before)
    }

    /// Links of a prepared folder to files that do not exist, or that hold something.
    @Test(arguments: ["lock.mdb", "writer.pid", "data.mdb", "data.mdb.new", "mark.new"])
    func `no link of a prepared folder is followed`(name: String) async throws {
        try manager.createDirectory(at: directory.log, withIntermediateDirectories: false)
        for content in [nil, Data("a letter".utf8)] {
            let target = directory.url.appending(path: "target")
            try content?.write(to: target)
            let place = directory.log.appending(path: name)
            try manager.createSymbolicLink(at: place, withDestinationURL: target)
            do {
                try await makeLog()
            } catch {
                requireUnsafe(error as? LogError, "\(name) is a symbolic link")
            }
            #expect(manager.fileExists(atPath: target.path) == (content != nil))
            if ["lock.mdb", "data.mdb"].contains(name) {
                #expect(try manager.contentsOfDirectory(atPath: directory.log.path) == [name])
            }
            if let content { #expect(try Data(contentsOf: target) == content) }
            try? manager.removeItem(at: place)
        }
    }

    /// LMDB writes to its lock file for a reader, too, while another process has the log open.
    @Test func `a reader of a live log follows no link of the lock file`() async throws {
        try await makeLog()
        let place = directory.log.appending(path: "lock.mdb")
        let target = directory.url.appending(path: "target")
        try Data("a letter".utf8).write(to: target)
        try manager.removeItem(at: place)
        try manager.createSymbolicLink(at: place, withDestinationURL: target)
        let descriptor = Foundation.open(directory.log.path, O_RDONLY | O_DIRECTORY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        let refused = await error { () throws(LogError) in try LogReader(at: directory.log) }
        requireUnsafe(refused, "lock.mdb is a symbolic link")
        #expect(try Data(contentsOf: target) == Data("a letter".utf8))
        try manager.removeItem(at: place)
        let missing = await error { () throws(LogError) in try LogReader(at: directory.log) }
        requireUnsafe(missing, "lock.mdb is missing")
    }

    @Test(arguments: ["data.mdb", "lock.mdb"])
    func `a pipe in place of a file of the log is refused at once`(name: String) async throws {
        try await makeLog()
        let place = directory.log.appending(path: name)
        try manager.removeItem(at: place)
        #expect(mkfifo(place.path, 0o600) == 0)
        let refused = await error { () throws(LogError) in try await open() }
        requireUnsafe(refused, "\(name) is not a regular file")
    }

    @Test func `a pipe in place of the holder's file does not block`() async throws {
        try await makeLog()
        let place = directory.log.appending(path: "writer.pid")
        try manager.removeItem(at: place)
        #expect(mkfifo(place.path, 0o600) == 0)
        await (try open()).close()
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give a file to another user"))
    func `the superuser may open a log of another user`() async throws {
        try await makeLog()
        #expect(chown(directory.log.appending(path: "data.mdb").path, 12_345, 12_345) == 0)
        await (try open()).close()
    }

    @Test func `a new log is not made among files of others`() async throws {
        try manager.createDirectory(at: directory.log, withIntermediateDirectories: false)
        let letter = directory.log.appending(path: "letter.txt")
        try Data("a letter".utf8).write(to: letter)
        let refused = await error { () throws(LogError) in try await open() }
        guard case .notALog(_, let reason) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(reason.contains("letter.txt"))
        #expect(try manager.contentsOfDirectory(atPath: directory.log.path) == ["letter.txt"])
        try manager.removeItem(at: letter)
        // A file manager's hidden files are not in the way, and neither are files beside a log.
        try Data().write(to: directory.log.appending(path: ".DS_Store"))
        // A new ext4 volume has this folder.
        try manager.createDirectory(
            at: directory.log.appending(path: "lost+found"), withIntermediateDirectories: false)
        try await makeLog()
        try Data("a letter".utf8).write(to: letter)
        await (try open()).close()
    }

    @Test func `a web address is not a directory of a log`() async throws {
        let address = URL(string: "https://example.org\(directory.log.path)")!
        let refused = await error { () throws(LogError) in try await open(address) }
        guard case .notALog(path: "https://example.org\(directory.log.path)", _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(!manager.fileExists(atPath: directory.log.path))
        let reader = await error { () throws(LogError) in try LogReader(at: address) }
        guard case .notALog = reader else {
            Issue.record("\(String(describing: reader))")
            return
        }
    }

    /// The example was started with a path in /proc, and its process overflowed its stack.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self"), "there is no /proc"))
    func `a file system that takes no directories is a typed error`() async throws {
        for path in ["/proc/foldback", "/proc/foldback/log"] {
            do throws(LogError) {
                _ = try await Store.open(
                    at: URL(filePath: path), Board.self, confirmedBy: .downlink,
                    durability: .durable)
                Issue.record("a log was made in /proc")
            } catch {
                guard case .storage(let failure) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(failure.reason == .system(errno: ENOENT))
            }
        }
    }

    @Test func `L10: missing parent directories are made, for their owner only`() async throws {
        let deep = directory.url.appending(path: "a/b/c.log", directoryHint: .isDirectory)
        await (try open(deep)).close()
        let parent = try manager.attributesOfItem(atPath: directory.url.appending(path: "a").path)
        #expect(parent[.posixPermissions] as? Int == 0o700)
        let file = directory.url.appending(path: "file")
        try Data().write(to: file)
        let below = await error { () throws(LogError) in
            try await open(file.appending(path: "x.log"))
        }
        guard case .storage = below else {
            Issue.record("\(String(describing: below))")
            return
        }
    }
}
