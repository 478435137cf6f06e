import Foundation
import Processes
import Testing

/// Question: do the commands of the skill for coding agents run, and print what it shows?
@Suite struct SkillTests {
    private static let skill = ReplayStory.root.appending(path: "Tools/Skills/foldback/SKILL.md")
    /// The log of the skill: a post with a like, a note that is rejected, and an increment by -4.
    private static let story = [
        #"{"do":"record","event":{"op":"set","key":"post","value":{"likes":0,"text":"hello"}}}"#,
        #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":1}}"#,
        #"{"do":"record","event":{"op":"set","key":"note","value":"buy milk"}}"#,
        #"{"do":"acknowledge","intent":1}"#,
        #"{"do":"acknowledge","intent":2}"#,
        #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":-4}}"#,
        #"{"do":"reject","intent":3,"code":"forbidden","message":"not your note"}"#,
    ]

    private let directory = DiskDirectory()
    private let text: String

    init() throws {
        text = try String(contentsOf: Self.skill, encoding: .utf8)
        try ReplayStory.makeLog(directory.log, Self.story)
        try FileManager.default.moveItem(
            at: directory.log, to: directory.url.appending(path: "feed.log"))
    }

    private func run(_ command: String) throws -> ProcessEnd {
        let path = URL(filePath: executable("foldback")).deletingLastPathComponent().path
        return try Processes.run([
            "sh", "-c", "cd '\(directory.url.path)' && PATH=\"\(path):$PATH\" && \(command)",
        ])
    }

    /// Whether an output has the shown pieces, which … separates, in their order.
    private func has(_ output: String, _ shown: String) -> Bool {
        var rest = output.replacing("\n", with: "")[...]
        for piece in shown.split(separator: "…") {
            guard let place = rest.firstRange(of: piece) else { return false }
            rest = rest[place.upperBound...]
        }
        return true
    }

    @Test func `the commands in blocks print what the skill shows`() throws {
        var count = 0
        for block in text.components(separatedBy: "```console\n").dropFirst() {
            let lines = (block.components(separatedBy: "```").first ?? "")
                .split(separator: "\n").map { $0.drop { $0 == " " } }
            let command = try #require(lines.first).dropFirst(2)
            let seen = try run("\(command) 2>&1")
            // Exit code 1 is an answer, such as a break that was found.
            #expect(seen.status <= 1, "\(command): \(seen)")
            #expect(
                has(seen.output, lines.dropFirst().joined(separator: "…")),
                "\(command): \(seen.output)")
            count += 1
        }
        #expect(count == 7)
    }

    @Test func `the commands in sentences run`() throws {
        let commands = text.matches(of: #/`(?:foldback )?([a-z-]+ feed\.log[^`]*)`/#).map(
            \.output.1)
        #expect(commands.count == 5)
        for command in commands {
            let seen = try run("foldback \(command)")
            #expect(seen.status <= 1 && seen.errors.isEmpty, "\(command): \(seen)")
        }
    }

    @Test func `the exit codes are those of the table`() throws {
        for (command, status) in [
            ("status feed.log", 0), ("first-break feed.log --expect '/post/likes >= 0'", 1),
            ("why feed.log --intent 9", 2), ("status nothing.log", 3),
            ("first-break feed.log --run 'exit 125'", 125),
        ] {
            #expect(try run("foldback \(command) 2>&1").status == Int32(status), "\(command)")
        }
    }
}
