import BrowserDriver
import Foldback
import Foundation
import Synchronization
import Testing

extension BrowserTests {
    /// A device without a network, and a server process that is killed.
    @Suite struct OutageTests {
        @Test func `B12: work without a network waits, and survives a kill`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                try await page.listen()
                try await page.server.stage(["do": "offline", "replica": "mia"])
                let posts = try await page.rows("post")
                for (index, post) in posts.prefix(10).enumerated() {
                    let text = "Comment \(index)"
                    if index % 2 == 0 {
                        try await page.click("[id='like-\(post)']")
                        try await page.until(post, is: "pending")
                    } else {
                        try await page.perform([
                            "do": "comment", "post": .string(post), "text": .string(text),
                        ])
                    }
                }
                let marks = "[...document.querySelectorAll('[data-mark] .words')]"
                let words = try await page.strings("\(marks).map(words => words.textContent)")
                #expect(words.count == 10)
                #expect(words.allSatisfy { $0.contains("Waiting for the network") }, "\(words)")
                _ = try await page.announcements()
                try await page.advance(milliseconds: 3_600_000)
                #expect(try await page.announcements() == [])
                #expect(try await page.strings("\(marks).map(words => words.textContent)") == words)
                try await page.picture("B12-offline")
                try await page.check()

                let nodes = try await page.nodes()
                try await page.kill()
                #expect(try await page.nodes() == nodes)
                #expect(try await page.strings("\(marks).map(words => words.textContent)") == words)
                try await page.check(ignoring: "net::ERR_")

                try await page.server.stage(["do": "online", "replica": "mia"])
                try await page.until("!document.querySelector('[data-mark]')")
                try await page.settle()
                #expect(try await page.nodes() == nodes)
                let account = try await page.server.state(of: "mia")["account"]
                #expect(account?["pending"] == 0 && account?["rejected"] == 0)
                try await page.check(ignoring: "net::ERR_")
            }
        }

        @Test func `B12: no answered action is lost by twenty kills`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                let post = try #require(try await page.rows("post").first)
                let log = AnswerLog()
                for round in 0..<20 {
                    let pid = try #require(try await page.server.stage()["pid"]?.integerValue)
                    async let writing: Void = Self.write(to: post, page.server, "\(round)", log)
                    // The kill comes between an answer and the next, during other requests.
                    await log.next(Int.random(in: 0...6))
                    Foundation.kill(pid_t(pid), SIGKILL)
                    await writing
                    try await page.reconnected(after: pid)
                }
                let all = log.answered
                try await page.until("!document.querySelector('[data-mark]')")
                try await page.settle()
                let texts = try await page.strings(
                    """
                    [...document.querySelectorAll("article[data-kind=comment] .text")]
                        .map(text => text.textContent).filter(text => text.split("/").length === 3)
                    """)
                print("B12: 20 kills, \(all.count) answered comments, \(texts.count) in the feed")
                #expect(Set(all.values).count == all.count)
                #expect(Set(texts).count == texts.count)
                #expect(Set(all.keys).subtracting(texts) == [])
                // At most one request of each writer was recorded without an answer.
                #expect(texts.count - all.count <= 20 * Self.writerCount)
                let account = try await page.server.state(of: "mia")["account"]
                #expect(account?["pending"] == 0 && account?["rejected"] == 0)
                try await page.check(ignoring: "net::ERR_")
            }
        }

        private static let writerCount = 3

        /// Writes comments one after another, as several people at once, until the server is killed.
        private static func write(
            to post: String, _ server: FeedWeb, _ round: String, _ log: AnswerLog
        ) async {
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<writerCount {
                    group.addTask {
                        for number in 0..<200 {
                            let text = "\(round)/\(writer)/\(number)"
                            let comment: JSON = [
                                "do": "comment", "post": .string(post), "text": .string(text),
                            ]
                            guard let intent = try? await server.perform(comment, as: "mia") else {
                                return
                            }
                            log.add(text, intent)
                        }
                    }
                }
            }
        }
    }
}

/// The answered comments with the numbers of their intents.
private final class AnswerLog: Sendable {
    private let content = Mutex<[String: Int64]>([:])
    private let heard: AsyncStream<Void>
    private let hear: AsyncStream<Void>.Continuation

    init() { (heard, hear) = AsyncStream.makeStream() }

    var answered: [String: Int64] { content.withLock { $0 } }

    func add(_ text: String, _ intent: Int64) {
        content.withLock { $0[text] = intent }
        hear.yield()
    }

    /// Returns after some more answers.
    func next(_ count: Int) async {
        var answers = heard.makeAsyncIterator()
        for _ in 0..<count { await answers.next() }
    }
}

extension FeedPage {
    /// Kills the server's process, and returns when the page is connected with the next one.
    fileprivate func kill() async throws {
        let pid = try #require(try await server.stage()["pid"]?.integerValue)
        Foundation.kill(pid_t(pid), SIGKILL)
        try await reconnected(after: pid)
    }

    /// Returns when the page shows what another process of the server knows.
    fileprivate func reconnected(after pid: Int64) async throws {
        try await until(
            """
            document.body.dataset.connected === "true"
                && !document.querySelector("#stage-facts").textContent.endsWith("process \(pid)")
            """)
        try await settle()
    }

    /// The rows with the numbers of their nodes.
    fileprivate func nodes() async throws -> [String] {
        try await strings(
            """
            [...document.querySelectorAll("#feed article")].map(
                row => row.dataset.id + " " + row.dataset.birth)
            """)
    }
}
