import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what a command does to existing files, links and devices when it writes.
@Suite(.serialized) struct ReplayToolFilesTests {
    private let foldback = executable("foldback")
    private let feedReplay = executable("feed-replay")
    private let directory = DiskDirectory()

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `an export is readable by its owner only, and replaces only a file`() throws {
        try ReplayStory.makeLog(directory.log)
        let log = directory.log.path
        let whole = try run([foldback, "export", log]).output
        try "old".write(toFile: path("file"), atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(
            atPath: path("link"), withDestinationPath: "file")
        try FileManager.default.createSymbolicLink(
            atPath: path("dangling"), withDestinationPath: "fresh")
        for (output, file) in [("file", "file"), ("link", "file"), ("dangling", "fresh")] {
            #expect(try run([foldback, "export", log, "-o", path(output)]).status == 0)
            #expect(try String(contentsOfFile: path(file), encoding: .utf8) == whole)
            #expect(try mode(path(file)) == 0o600)
        }
        for link in ["link", "dangling"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path(link))
            #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
        }
        let piped = try run([
            "sh", "-c",
            "mkfifo '\(path("pipe"))'; cat '\(path("pipe"))' & \(foldback) export '\(log)' -o '\(path("pipe"))'; wait; test -p '\(path("pipe"))'",
        ])
        #expect(piped.status == 0 && piped.output == whole, "\(piped)")
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(left) == ["log", "file", "link", "dangling", "fresh", "pipe"], "\(left)")
    }

    @Test func `an export to a full device is an error, and leaves the device`() throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try run([foldback, "export", directory.log.path, "-o", "/dev/full"])
        #expect(seen.status == 3 && seen.errors.contains("/dev/full cannot be written"), "\(seen)")
        #expect(try run(["test", "-c", "/dev/full"]).status == 0)
        let missing = try run([foldback, "export", directory.log.path, "-o", path("no/file")])
        #expect(missing.status == 3 && missing.errors.contains("no/file"), "\(missing)")
    }

    /// Checks that the compiler accepts a file that imports the built modules.
    private func compile(_ file: String) throws {
        let seen = try run([
            "sh", "-c",
            #"""
            swift=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
            # FoldbackReplay imports FlyingFox, which has a module of C.
            swiftc -typecheck -swift-version 6 -I "$1/Modules" -I "$2/Sources/CLMDB" \
                -I "$1/../../checkouts/FlyingFox/CSystemLinux/include" \
                -plugin-path "$swift/lib/swift/host/plugins/testing" "$3"
            """#,
            "sh", URL(filePath: foldback).deletingLastPathComponent().path, ReplayStory.root.path,
            file,
        ])
        #expect(seen.status == 0, "\(seen)")
    }

    @Test func `a written test compiles for any log name and expectation`() throws {
        let log = directory.url.appending(path: #"t"q\1.log"#)
        try ReplayStory.makeLog(log)
        let tests = path("Tests")
        for expectation in [
            "/post/likes >= 0", #"/post/text < "h""#, ##"/post/text == "a\\\"#b`""##,
        ] {
            let seen = try run([
                foldback, "minimize", log.path, "--expect", expectation, "--as", "test", "-o",
                tests,
            ])
            #expect(seen.status == 0, "\(expectation): \(seen)")
            try compile(tests + "/TQ1SmallLogTests.swift")
            let text = try String(
                contentsOfFile: tests + "/TQ1SmallLogTests.swift", encoding: .utf8)
            #expect(text.contains(#"Self.file("t\"q\\1-small.ndjson")"#), "\(text)")
        }
    }

    @Test func `a written test over rows uses the app's projection, and compiles`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let seen = try run([
            feedReplay, "export", path("feed.log"), "--as", "test", "-o", path("Tests"),
            "--projection", "feed_replay.PostsByAuthor",
        ])
        #expect(seen.status == 0, "\(seen)")
        let file = path("Tests/FeedLogTests.swift")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("@testable import feed_replay\n"), "\(text)")
        #expect(text.contains("RowsInMemory<PostsByAuthor>.self"), "\(text)")
        try compile(file)
    }

    @Test(arguments: [
        ("FoldbackExamples.Channels", "MessageRows"),
        ("chat_replay.MessageRows", "Channels"),
    ])
    func `a written test names the projections that share conflicts, and compiles`(
        projection: String, other: String
    ) throws {
        let tool = executable("chat-replay")
        #expect(try run([tool, "make", path("chat.log"), "rows"]).status == 0)
        for command in [["export"], ["minimize", "--expect", "/x == 1"]] {
            let seen = try run(
                [tool, command[0], path("chat.log"), "--projection", projection, "--as", "test"]
                    + ["-o", path("Tests")] + command.dropFirst())
            #expect(seen.status == 0, "\(seen)")
            let name = command[0] == "export" ? "ChatLogTests" : "ChatSmallLogTests"
            let file = path("Tests/\(name).swift")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(", also: [AdditionalProjection(\(other).self)])"), "\(text)")
            for module in ["FoldbackExamples", "chat_replay"] {
                #expect(text.contains("@testable import \(module)\n"), "\(text)")
            }
            try compile(file)
        }
    }

    @Test func `the commands of the article about bug reports print what it shows`() throws {
        try ReplayStory.makeLog(directory.log)
        try FileManager.default.moveItem(
            at: directory.log, to: directory.url.appending(path: "feed.log"))
        let article = try String(
            contentsOf: ReplayStory.root.appending(
                path: "Sources/FoldbackReplay/FoldbackReplay.docc/FromABugReportToAFailingTest.md"),
            encoding: .utf8)
        let size = #/\d[\d,]* bytes/#
        let time = #/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z/#
        var count = 0
        for block in article.components(separatedBy: "```console\n").dropFirst() {
            let lines = (block.components(separatedBy: "\n```").first ?? "")
                .split(separator: "\n", maxSplits: 1)
            let command = String(lines[0].dropFirst(2))
            let path = URL(filePath: foldback).deletingLastPathComponent().path
            let seen = try run([
                "sh", "-c",
                "cd '\(directory.url.path)' && PATH=\"\(path):$PATH\" && \(command) 2>&1",
            ])
            let expected = lines.count > 1 ? lines[1] + "\n" : ""
            func fixed(_ text: String) -> String {
                text.replacing(time, with: "TIME").replacing(size, with: "N bytes")
            }
            #expect(fixed(seen.output) == fixed(expected), "\(command)")
            count += 1
        }
        #expect(count == 5)
        let file = path("Tests/ReportSmallLogTests.swift")
        let shown = try #require(article.components(separatedBy: "```swift\n").last)
            .components(separatedBy: "```")[0]
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains(shown))
        try compile(file)
    }

    @Test func `a long search shows its progress on a terminal`() throws {
        try ReplayStory.makeLog(directory.log)
        let command = "\(foldback) first-break '\(directory.log.path)' --run 'sleep 0.4'"
        let seen = try run(["script", "-q", "-e", "-c", command, "/dev/null"])
        #expect(seen.status == 0, "\(seen)")
        #expect(seen.output.contains(#/checking states: [1-7] of 7, \d+ s/#), "\(seen)")
    }
}
