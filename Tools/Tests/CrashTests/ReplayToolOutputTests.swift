import Foldback
import Foundation
import Processes
import Testing

/// Born from an export to `LOG/data.mdb`, which destroyed the log and exited with 0.
@Suite(.serialized) struct ReplayToolOutputTests {
    private let foldback = executable("foldback")
    private let feedReplay = executable("feed-replay")
    private let directory = DiskDirectory()

    init() throws { try ReplayStory.makeLog(directory.log) }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func sh(_ script: String) throws -> ProcessEnd {
        try run(["sh", "-c", "cd '\(directory.url.path)' && \(script)"])
    }

    /// The files of the directory, and their bytes; nil for a folder.
    private func files() throws -> [String: Data?] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
        return Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try? Data(contentsOf: directory.url.appending(path: $0)))
            })
    }

    /// Runs a command in the directory, and checks that it refuses and changes no log.
    private func expectRefusal(_ command: String, _ words: String..., line: Int = #line) throws {
        let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        let before = try files()
        let seen = try sh(command)
        #expect(seen.status == 2, "\(command): \(seen)", sourceLocation: place)
        #expect(seen.output.isEmpty, "\(command): \(seen)", sourceLocation: place)
        for word in words + ["path outside"] {
            #expect(seen.errors.contains(word), "\(command): \(seen)", sourceLocation: place)
        }
        let after = try files()
        #expect(after == before, "\(command) changes files", sourceLocation: place)
    }

    @Test func `wiping says whether a log was there`() throws {
        #expect(try sh("'\(foldback)' wipe lgo").output == "Nothing was there.\n")
        let done = try sh("'\(foldback)' wipe log --discard-pending")
        #expect(done.status == 0 && done.output == "The log is removed.\n")
        #expect(try sh("'\(foldback)' wipe log").output == "Nothing was there.\n")
        #expect(try files().isEmpty)
    }

    @Test(arguments: [
        "log/data.mdb", "log/lock.mdb", "log/writer.pid", "log/new", "./log//new", "log/no/new",
        "log/../log/new", "no/../log/new", "log", "folder-link/new", "folder-link/../log/new",
        "file-link", "hard-link", "dangling", "chain", "dangling-folder/new", "link/log/new",
        "/proc/self/cwd/log/new", "other/data.mdb", "other/new", "other-link/data.mdb",
    ])
    func `no command writes into a log's folder or over a log's file`(output: String) throws {
        _ = try sh("cp -r log other && ln -s other other-link && ln -s log folder-link")
        _ = try sh("ln -s log/data.mdb file-link && ln log/data.mdb hard-link && ln -s . link")
        _ = try sh("ln -s log/new dangling && ln -s dangling chain && ln -s log/no dangling-folder")
        let small = "minimize log --run 'touch ran; exit 1'"
        for command in ["export log", "export folder-link", "export log --as bundle", small] {
            try expectRefusal("'\(foldback)' \(command) -o '\(output)'", output)
        }
        try expectRefusal("'\(feedReplay)' export log -o '\(output)'", output)
        #expect(try sh("test -e ran").status == 1, "the search began before the refusal")
        // A log whose file has a second name does not open.
        _ = try sh("rm hard-link")
        #expect(try sh("'\(foldback)' verify log && '\(foldback)' verify other").status == 0)
    }

    @Test func `no command writes a test into a log's folder`() throws {
        for folder in ["log", "log/Tests", "log/no/Tests", "log/../log"] {
            try expectRefusal("'\(foldback)' export log --as test -o \(folder)", "log")
            try expectRefusal(
                "'\(foldback)' minimize log --expect '/draft == null' --as test -o \(folder)", "log"
            )
        }
        // Without -o, minimize writes the test into the working directory.
        try expectRefusal(
            "cd log && '\(foldback)' minimize . --expect '/draft == null' --as test", "log")
    }

    @Test func `a history file may be the output of a command that reads it, but not inside a log`()
        throws
    {
        let whole = try sh("'\(foldback)' export log -o file && cat file").output
        try expectRefusal("'\(foldback)' export file -o log/data.mdb", "log/data.mdb")
        let refused = try sh("'\(foldback)' minimize file --expect '/none == null' -o file")
        #expect(refused.status == 1, "\(refused)")
        #expect(try String(contentsOfFile: path("file"), encoding: .utf8) == whole)
        let same = try sh("'\(foldback)' export file -o file && cat file")
        #expect(same.status == 0 && same.output == whole, "\(same)")
        let small = try sh(
            "'\(foldback)' minimize file --expect '/draft == null' -o file && cat file")
        #expect(small.status == 0, "\(small)")
        #expect(small.output.split(separator: "\n").count == 2, "\(small)")
    }

    @Test func `import takes no file from the log's own folder, and makes no log in a log`() throws
    {
        _ = try sh("'\(foldback)' export log -o file && mkdir empty")
        // A store of the new log would replace the file.
        for name in ["writer.pid", "lock.mdb", "data.mdb"] {
            _ = try sh("rm -f empty/* && cp file empty/\(name)")
            try expectRefusal("'\(foldback)' import empty/\(name) empty", "empty/\(name)")
            try expectRefusal("'\(foldback)' import empty/../empty/\(name) ./empty --dry-run")
        }
        try expectRefusal("'\(foldback)' import file log/new", "log/new")
        try expectRefusal("'\(foldback)' import log/data.mdb log", "log/data.mdb")
    }

    @Test func `the demo makes no files in a log's folder`() throws {
        let demo = executable("foldback-demo")
        _ = try sh("echo text > text")
        try expectRefusal("'\(demo)' session --directory log --text text", "log")
        try expectRefusal("'\(demo)' feed --directory log", "log")
        _ = try sh("mkdir demo && echo mine > demo/feed.log")
        let mine = try sh("'\(demo)' feed --directory demo")
        #expect(mine.status == 2 && mine.errors.contains("feed.log is not a log"), "\(mine)")
        #expect(try sh("cat demo/feed.log").output == "mine\n")
    }
}
