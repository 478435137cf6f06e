import BrowserDriver
import Foldback
import FoldbackTesting
import Foundation
import Testing

extension BrowserTests {
    /// A device without a network, and a server process that is killed.
    @Suite struct OutageTests {
        @Test func `B12: work without a network waits, and survives a kill`() async throws {
            try await BrowserTests.withFeed(ignoring: ["net::ERR_"]) { page, _ in
                try await page.server.stage(["do": "offline", "replica": "mia"])
                let posts = Array(try await page.rows("post").prefix(10))
                let before = try await page.shown(posts)
                for (index, post) in posts.enumerated() {
                    if index % 2 == 0 {
                        try await page.click("[id='like-\(post)']")
                        try await page.until(post, is: "pending")
                    } else {
                        try await page.comment("Comment \(index)", on: post)
                    }
                }
                let marks = "[...document.querySelectorAll('[data-mark] .words')]"
                let words = try await page.strings("\(marks).map(words => words.textContent)")
                #expect(words.count == 10)
                #expect(words.allSatisfy { $0.contains("Waiting for the network") }, "\(words)")
                let after = try await page.shown(posts)
                try Self.expectChanges(from: before, to: after)
                _ = try await page.announcements()
                let picture = try await page.picture("B12-offline")
                try await page.advance(milliseconds: 3_600_000)
                #expect(try await page.announcements() == [])
                #expect(try await page.strings("\(marks).map(words => words.textContent)") == words)
                try await page.check()

                let nodes = try await page.nodes()
                try await page.kill()
                #expect(try await page.nodes() == nodes)
                #expect(try await page.strings("\(marks).map(words => words.textContent)") == words)
                #expect(try await page.shown(posts) == after)
                try await page.check()

                try await page.server.stage(["do": "online", "replica": "mia"])
                try await page.until("!document.querySelector('[data-mark]')")
                #expect(try await page.nodes() == nodes)
                let settled = try await page.shown(posts)
                try Self.expectChanges(from: before, to: settled)
                #expect(settled.allSatisfy { $0.state == "settled" && $0.marks == [] })
                #expect(picture != (try await page.picture("B12-online")))
                let comments = try await page.rows("comment")
                #expect(try await page.shown(comments).allSatisfy { $0.state == "settled" })
                try await page.expectNothingLeft()
            }
        }

        /// Requires that every second of the posts is liked once, and the others have one more
        /// comment.
        private static func expectChanges(
            from before: [ShownRow], to after: [ShownRow]
        ) throws {
            for (index, (old, new)) in zip(before, after).enumerated() {
                let isLiked = index % 2 == 0
                let likeCount = try #require(old.likes) + (isLiked ? 1 : 0)
                #expect(old.liked == "false" && new.liked == "\(isLiked)")
                #expect(new.likes == likeCount)
                #expect(new.comments == old.comments + (isLiked ? 0 : 1))
                #expect(new.birth == old.birth)
            }
        }

        @Test func `B12: a post with a photo survives a kill, and is sent when the photo is there`()
            async throws
        {
            try await BrowserTests.withFeed(ignoring: ["net::ERR_"]) { page, _ in
                try await page.server.stage(["do": "offline", "replica": "mia"])
                try await page.browser.type("A picture", into: "#post-text")
                try await page.click("#upload-send")
                let post = try await page.row(saying: "A picture")
                let words = "\(page.row(post)).querySelector('.words').textContent"
                #expect(
                    try await page.string(words)
                        == "Photo: The photo is not sent: The server cannot be reached")
                #expect(try await page.value("document.querySelector('#retry-1')") != .null)
                let before = try await page.picture("B12-draft")
                try await page.check()
                try await page.kill()
                #expect(try await page.shown(post).marks == ["pending"])
                #expect(try await page.string(words).contains("The photo is not sent"))

                try await page.server.hold()
                try await page.server.stage(["do": "online", "replica": "mia"])
                try await page.settle()
                try await page.advance(milliseconds: 200)
                try await page.until("\(words) === 'Photo: Sending the photo'")
                try await page.kill()
                // The process goes on by itself.
                try await page.until("document.querySelector('#stage-accept-mia-upload')")
                #expect(try await page.string(words) == "Photo: Sending the photo")
                try await page.server.release()
                try await page.until(post, is: "settled")
                #expect(before != (try await page.picture("B12-photo")))
                #expect(try await page.rows(saying: "A picture") == [post])
                try await page.expectNothingLeft()
            }
        }

        @Test func `B12: a lost connection goes on where it was`() async throws {
            try await BrowserTests.withFeed(ignoring: ["net::ERR_"]) { page, _ in
                try await page.browser.run(
                    "window.messages = []; window.heard = message => messages.push(message)")
                let nodes = try await page.nodes()
                let revision = try await page.string("document.body.dataset.revision")
                try await page.setConnected(false)
                let post = try #require(try await page.rows("post").last)
                for text in ["One", "Two"] {
                    try await page.server.perform(["do": "post", "text": .string(text)], as: "ben")
                    try await page.server.perform(
                        ["do": "comment", "post": .string(post), "text": .string(text)], as: "mia")
                }
                #expect(try await page.string("document.body.dataset.revision") == revision)
                #expect(try await page.number("messages.length") == 0)
                try await page.setConnected(true)
                // Each message came once, and none with everything.
                let parts = revision.split(separator: "-")
                let first = try #require(Int(parts.last ?? ""))
                let revisions = try await page.strings("messages.map(({ revision }) => revision)")
                #expect(revisions.count >= 4)
                #expect(
                    revisions == (1...revisions.count).map { "\(parts[0])-\(first + $0)" })
                #expect(try await page.bool("messages.every(({ reset }) => !reset)"))
                let state = try await page.server.state(of: "mia")["rows"]?.arrayValue
                let rows = try await page.nodes()
                #expect(
                    rows.map { $0.split(separator: " ").first.map(String.init) }
                        == state?.map { $0["id"]?.stringValue })
                #expect(rows.count == nodes.count + 4 && Set(nodes).isSubset(of: rows))
            }
        }

        @Test func `B12: no answered action is lost by twenty kills`() async throws {
            var random = SplitMix64.printed(for: "B12")
            try await BrowserTests.withFeed(ignoring: ["net::ERR_"]) { page, post in
                var answered: [String: Int64] = [:]
                var wantedCount = 0
                for round in 0..<20 {
                    let pid = try #require(try await page.server.stage()["pid"]?.integerValue)
                    let (answers, writer) = AsyncStream.makeStream(of: Answer.self)
                    let writing = Task {
                        try await Self.write(to: post, page.server, "\(round)", writer)
                    }
                    var heard = answers.makeAsyncIterator()
                    // The kill comes between an answer and the next, during other requests.
                    let wanted = Int.random(in: 0...6, using: &random)
                    wantedCount += wanted
                    for _ in 0..<wanted {
                        let answer = try #require(await heard.next(), "round \(round)")
                        answered[answer.text] = answer.intent
                    }
                    Foundation.kill(pid_t(pid), SIGKILL)
                    writing.cancel()
                    try await writing.value
                    while let answer = await heard.next() { answered[answer.text] = answer.intent }
                    try await page.reconnected(after: pid)
                }
                try #require(answered.count >= max(1, wantedCount))
                try await page.until("!document.querySelector('[data-mark]')")
                let texts = try await page.strings(
                    """
                    [...document.querySelectorAll("article[data-kind=comment] .text")]
                        .map(text => text.textContent).filter(text => text.split("/").length === 3)
                    """)
                print(
                    "B12: 20 kills, \(answered.count) answered comments, \(texts.count) in the feed"
                )
                #expect(Set(answered.values).count == answered.count)
                #expect(Set(texts).count == texts.count)
                #expect(Set(answered.keys).subtracting(texts) == [])
                // At most one request of each writer was recorded without an answer.
                #expect(texts.count - answered.count <= 20 * Self.writerCount)
                try await page.expectNothingLeft()
            }
        }

        private static let writerCount = 3

        /// A comment that was answered, and the number of its intent.
        private typealias Answer = (text: String, intent: Int64)

        /// Writes comments one after another, as several people at once, until the server is killed
        /// or the task is canceled. The answers end with that.
        ///
        /// - Throws: what the server refused. A lost connection is not an error.
        private static func write(
            to post: String, _ server: FeedWeb, _ round: String,
            _ answers: AsyncStream<Answer>.Continuation
        ) async throws {
            defer { answers.finish() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writerCount {
                    group.addTask {
                        // The next process answers a request that no process has accepted yet.
                        for number in 0..<200 where !Task.isCancelled {
                            let text = "\(round)/\(writer)/\(number)"
                            let comment: JSON = [
                                "do": "comment", "post": .string(post), "text": .string(text),
                            ]
                            do {
                                let intent = try await server.perform(comment, as: "mia")
                                answers.yield((text, try #require(intent)))
                            } catch is ConnectionError { return }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

extension FeedPage {
    /// Kills the server's process, and returns when the page is connected with the next
    /// process.
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
    }

    /// Requires that nothing of the device is pending or refused.
    fileprivate func expectNothingLeft(
        at place: SourceLocation = #_sourceLocation
    ) async throws {
        let account = try await server.state(of: replica)["account"]
        let nothing: JSON = [
            "pending": 0, "accepted": 0, "conflicted": 0, "rejected": 0,
            "sync": "Everything is saved on the server.",
        ]
        #expect(account == nothing, sourceLocation: place)
    }

    /// Takes the network from the page's window, or gives it back. Returns when the page has noticed.
    ///
    /// The browser takes it only from new connections, so the stream of messages gets an error.
    fileprivate func setConnected(_ isConnected: Bool) async throws {
        try await browser.show(window)
        try await browser.devTools("Network.enable")
        try await browser.devTools(
            "Network.emulateNetworkConditions",
            [
                "offline": .bool(!isConnected), "latency": 0, "downloadThroughput": -1,
                "uploadThroughput": -1,
            ])
        if !isConnected { try await browser.run("streams.at(-1).onerror()") }
        try await until("document.body.dataset.connected === '\(isConnected)'")
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
