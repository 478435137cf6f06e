import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// What a person sees before the content is there.
    @Suite struct LoadingTests {
        private static let placeholders =
            "[...document.querySelectorAll('[data-kind=placeholder]')]"

        @Test func `B5: the first load shows placeholders, and then posts`() async throws {
            try await BrowserTests.withPage(before: { try await $0.hold() }) { page in
                try await page.until("\(Self.placeholders).length === 8")
                #expect(Set(try await page.rows("placeholder")).count == 8)
                #expect(
                    try await page.bool(
                        "\(Self.placeholders).every(row => row.ariaHidden === 'true')"))
                #expect(try await page.string("document.querySelector('#feed').ariaBusy") == "true")
                #expect(try await page.accessibilityTree().allSatisfy { $0.role != "article" })
                let picture = try await page.picture("B5-placeholders")
                try await page.check()

                try await page.server.release()
                try await page.loaded()
                #expect(try await page.rows("placeholder") == [])
                let posts = try await page.rows("post")
                #expect(posts.count == 12)
                let tree = try await page.accessibilityTree()
                #expect(tree.count { $0.role == "article" } >= posts.count)
                #expect(try await page.picture("B5-posts") != picture)
            }
        }

        @Test func `B5: an empty feed says that it is empty`() async throws {
            let note = "document.querySelector('#feed-note').innerText"
            try await BrowserTests.withPage(
                ["--seed-posts", "0"], before: { try await $0.hold() }
            ) { page in
                try await page.until("\(Self.placeholders).length === 8")
                #expect(try await page.string(note) == "")
                let placeholders = try await page.picture("B5-before-empty")
                try await page.server.release()
                try await page.until("\(note) !== ''")
                #expect(try await page.string(note).contains("no posts"))
                #expect(
                    try await page.number("document.querySelectorAll('#feed article').length") == 0)
                #expect(
                    try await page.string("document.querySelector('#feed').ariaBusy") == "false")
                #expect(!(try await page.string("document.body.innerText").contains("Loading")))
                #expect(placeholders != (try await page.picture("B5-empty")))
            }
        }

        @Test func `B6: a post whose id is known keeps its node`() async throws {
            try await BrowserTests.withFeed { page, _ in
                try await page.server.stage(["do": "offline", "replica": "mia"])
                try await page.server.perform(["do": "post", "text": "Shared"], as: "ben")
                try await page.until("document.querySelector('#known button')")
                let post = try await page.string(
                    "document.querySelector('#known button').dataset.post")
                try await page.click("[id='open-\(post)']")
                try await page.until(post, is: "placeholder")
                let placeholder = try await page.shown(post)
                #expect(try await page.string("\(page.row(post)).ariaHidden") == "true")
                try await page.check()
                // All people can find its wait, as soon as the wait can be left.
                try await page.advance(milliseconds: 10_000)
                let row = page.row(post)
                #expect(try await page.bool("\(row).querySelector('.wait button') !== null"))
                #expect(try await page.bool("!\(row).ariaHidden && \(row).ariaBusy === 'true'"))
                try await page.check()
                try await page.server.stage(["do": "online", "replica": "mia"])
                try await page.until(post, is: "settled")
                let shown = try await page.shown(post)
                #expect(shown.birth == placeholder.birth && shown.text == "Shared")
                #expect(try await page.bool("!\(page.row(post)).ariaHidden"))
            }
        }

        @Test func `B6: rows above leave the scroll position and the focus alone`() async throws {
            try await BrowserTests.withFeed(at: 5) { page, post in
                try await page.browser.run(
                    "\(page.row(post)).scrollIntoView(); \(page.row(post)).focus();")
                let top = "\(page.row(post)).getBoundingClientRect().top"
                let before = try await page.value("Math.round(\(top))")
                #expect(try await page.bool("scrollY > 0"))
                for text in ["One above", "Two above"] {
                    try await page.server.perform(["do": "post", "text": .string(text)], as: "ben")
                    _ = try await page.row(saying: text)
                    #expect(try await page.focus() == post)
                    #expect(try await page.value("Math.round(\(top))") == before)
                }
            }
        }
    }
}

extension FeedWeb {
    /// From now on, the authority gets requests, and answers none.
    func hold() async throws { try await stage(["do": "hold"]) }

    /// Answers all requests, and holds no more.
    func release() async throws { try await stage(["do": "release"]) }

    /// Answers one request.
    func release(_ id: String) async throws {
        try await stage(["do": "release", "id": .string(id)])
    }
}
