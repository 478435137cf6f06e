import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// Other windows, other colors, and text that is not meant well.
    @Suite struct DisplayTests {
        @Test func `a page with all states is accessible in each width and color scheme`()
            async throws
        {
            try await BrowserTests.withPage { page in
                try await page.showAllStates()
                var pictures: Set<String> = []
                for width in [390, 1_280] {
                    for isDark in [false, true] {
                        try await page.display(FeedPage.Display(isDark: isDark, width: width))
                        let name = "display-\(width)-\(isDark ? "dark" : "light")"
                        pictures.insert(try await page.picture(name).base64EncodedString())
                        try await page.check()
                        #expect(
                            try await page.number("document.documentElement.scrollWidth") <= width)
                    }
                }
                #expect(pictures.count == 4)
                let places = try await page.value(
                    """
                    [".guide", "main", ".stage"].map(
                        part => document.querySelector(part).getBoundingClientRect()).map(
                        ({ left, right }) => [Math.round(left), Math.round(right)])
                    """)
                let edges = places.arrayValue?.flatMap { $0.arrayValue ?? [] }
                    .compactMap(\.integerValue)
                #expect(edges?.count == 6 && edges == edges?.sorted(), "three columns: \(places)")
            }
        }

        /// Texts as somebody could write them to break a page.
        private static let texts = [
            #"<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script><b>bold"#,
            "100 % of %s, %@, %5B, %%, ${window.hacked = 1} and $& $1",
            "\u{202E}from right to left\u{2066} without an end",
            #""double" 'single' `back` \ \n &lt; &amp;#39; </p> ]]> --> {{ }}"#,
        ]

        @Test func `text is shown as it was written`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, _ in
                let elements = "document.querySelectorAll('img, script, b').length"
                let before = try await page.number(elements)
                let posts = try await page.rows("post")
                for (text, post) in zip(Self.texts, posts) {
                    try await page.expectShown(text, on: post)
                }
                #expect(try await page.number(elements) == before)
                #expect(try await page.value("window.hacked") == .null)
                let children = ".text > *, .words > *, #alert p > *"
                #expect(
                    try await page.number("document.querySelectorAll('\(children)').length") == 0)
            }
        }
    }
}

extension FeedPage {
    /// Puts a text into a field, which a driver can type only in part, and presses its button.
    fileprivate func write(_ text: String, in field: String, _ button: String) async throws {
        try await browser.show(window)
        try await browser.run(
            "document.getElementById(arguments[0]).value = arguments[1]", .string(field),
            .string(text))
        try await click("[id='\(button)']")
    }

    /// Writes a post and a comment with a text, and lets the comment be rejected with it. Requires that
    /// the rows, the held requests, the mark and the announcement say exactly the text.
    fileprivate func expectShown(_ text: String, on post: String) async throws {
        try await write(text, in: "post-text", "post-send")
        _ = try await row(saying: text)
        try await write(text, in: "comment-text-\(post)", "comment-\(post)")
        try await until("\(Self.rowsSaying(text)).length === 2")
        let rows = try await rows(saying: text)
        #expect(rows.count == 2, "\(text)")
        let comment = try #require(rows.last)
        let held = try await server.stage()["held"]?.arrayValue ?? []
        let ids = held.filter { $0["content"]?.stringValue == text }.compactMap { $0["id"] }
        try #require(ids.count == 2, "\(held)")
        let fields = try await strings(
            "[...document.querySelectorAll('#held-list .content input')].map(node => node.value)")
        #expect(fields.suffix(2) == [text, text])

        try await server.stage(["do": "reject", "id": ids[1], "reason": .string(text)])
        try await until(comment, is: "rejected")
        let said = try await announcements()
        #expect(said.count == 1 && said.allSatisfy { $0.text.contains(text) }, "\(said)")
        let words = try await string(
            "\(row(comment)).querySelector('[data-mark] .words').textContent")
        #expect(words.contains(text))
    }

    /// Brings the page to a state with every kind of row, mark and wait.
    fileprivate func showAllStates() async throws {
        try await loaded()
        let posts = try await rows("post")
        try await server.hold()
        for (post, text) in zip(posts, ["Conflicted", "Rejected", "Pending"]) {
            try await perform(["do": "comment", "post": .string(post), "text": .string(text)])
        }
        try await server.stage(["do": "conflict", "replica": .string(replica)])
        try await server.stage([
            "do": "reject", "id": .string("\(replica)/2"), "reason": "Comments are closed.",
        ])
        try await perform(["do": "like", "post": .string(posts[3])])
        try await perform(["do": "follow", "name": "ada"])
        try await perform(["do": "upload", "text": "A picture"])
        try await fraction(0.3)
        try await advance(milliseconds: 12_000)
        let states = Set(
            try await strings(
                "[...document.querySelectorAll('[data-mark]')].map(mark => mark.dataset.state)"))
        #expect(states == ["conflicted", "rejected", "pending"])
        #expect(try await wait("upload").actions == ["cancel"])
        try await browser.run("scrollTo(0, 0)")
    }
}
