import BrowserDriver
import Testing

extension BrowserTests {
    /// Undo and redo (F21).
    @Suite struct UndoTests {
        private static let words =
            "['undo', 'redo'].map(id => document.getElementById(id))"
            + ".map(({ innerText, ariaDisabled }) => `${innerText} ${ariaDisabled}`).join()"

        @Test func `a button and keys undo and redo, and say so`() async throws {
            try await BrowserTests.withFeed { page, _ in
                #expect(try await page.string(Self.words) == "Undo true,Redo true")
                let post = try #require(try await page.rows("post").last)
                let before = try await page.shown(post)
                try await page.click("[id='like-\(post)']")
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                let after = try await page.shown(post)
                #expect(after.liked == "true" && after.state == "settled")
                let first = try await page.picture("undo-like")
                try await page.check()

                try await page.click("#undo")
                try await page.until("\(Self.words) === 'Undo true,Redo like null'")
                #expect(try await page.shown(post) == before)
                #expect(try await page.focus() == "undo")
                #expect(try await page.announcements() == [.polite("Undone: like")])
                #expect(first != (try await page.picture("undo-undone")))
                try await page.check()

                try await page.browser.press("z", with: [.control, .shift])
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                #expect(try await page.shown(post) == after)
                try await page.browser.press("z", with: [.control])
                try await page.until("\(Self.words) === 'Undo true,Redo like null'")
                #expect(try await page.shown(post) == before)
                #expect(
                    try await page.announcements() == [
                        .polite("Redone: like"), .polite("Undone: like"),
                    ])
                // With nothing to undo, the key does nothing.
                try await page.browser.press("z", with: [.control])
                try await page.settle()
                #expect(try await page.string(Self.words) == "Undo true,Redo like null")
            }
        }

        @Test func `in a text, the keys post it, or undo what was typed`() async throws {
            try await BrowserTests.withFeed { page, post in
                let first = "document.querySelector('article .text').textContent"
                try await page.browser.type("Sent by keys", into: "#post-text")
                try await page.browser.press(.enter, with: [.control])
                try await page.until("document.querySelector('#post-text').value === ''")
                try await page.until("\(first) === 'Sent by keys'")
                try await page.click("[id='like-\(post)']")
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                try await page.browser.type("Hello", into: "#post-text")
                try await page.browser.press("z", with: [.control])
                try await page.until("document.querySelector('#post-text').value !== 'Hello'")
                #expect(try await page.string(Self.words) == "Undo like null,Redo true")
            }
        }
    }
}
