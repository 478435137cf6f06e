import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// Undo and redo (F21).
    @Suite struct UndoTests {
        private static let words =
            "['undo', 'redo'].map(id => document.getElementById(id))"
            + ".map(({ innerText, ariaDisabled }) => `${innerText} ${ariaDisabled}`).join()"

        @Test func `a button and keys undo and redo, and say so`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                try await page.listen()
                #expect(try await page.string(Self.words) == "Undo true,Redo true")
                let post = try #require(try await page.rows("post").last)
                let before = try await page.shown(post)
                try await page.click("[id='like-\(post)']")
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                try await page.settle()
                let after = try await page.shown(post)
                #expect(after.liked == "true" && after.state == "settled")
                let first = try await page.picture("undo-like")
                try await page.check()

                try await page.click("#undo")
                try await page.until("\(Self.words) === 'Undo true,Redo like null'")
                try await page.settle()
                #expect(try await page.shown(post) == before)
                #expect(try await page.focus() == "undo")
                #expect(try await page.announcements() == [.polite("Undone: like")])
                #expect(first != (try await page.picture("undo-undone")))
                try await page.check()

                try await page.browser.press("z", with: [.control, .shift])
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                try await page.settle()
                #expect(try await page.shown(post) == after)
                try await page.browser.press("z", with: [.control])
                try await page.until("\(Self.words) === 'Undo true,Redo like null'")
                try await page.settle()
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

        @Test func `in a text, the keys undo what was typed`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                let post = try #require(try await page.rows("post").first)
                try await page.click("[id='like-\(post)']")
                try await page.until("\(Self.words) === 'Undo like null,Redo true'")
                try await page.browser.type("Hello", into: "#post-text")
                try await page.browser.press("z", with: [.control])
                try await page.until("document.querySelector('#post-text').value !== 'Hello'")
                try await page.settle()
                #expect(try await page.string(Self.words) == "Undo like null,Redo true")
            }
        }

        @Test func `Ctrl with Enter posts the text`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                try await page.browser.type("Sent by keys", into: "#post-text")
                try await page.browser.press(.enter, with: [.control])
                try await page.until("document.querySelector('#post-text').value === ''")
                try await page.settle()
                let first = "document.querySelector('article .text').textContent"
                #expect(try await page.string(first) == "Sent by keys")
            }
        }

        @Test func `a held action is undone at once, and a refusal leaves nothing to redo`()
            async throws
        {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                let post = try #require(try await page.rows("post").first)
                let before = try await page.shown(post)
                try await page.server.hold()
                try await page.click("[id='like-\(post)']")
                try await page.until("document.querySelector('#stage-accept-mia-1')")
                try await page.settle()
                try await page.browser.press("z", with: [.control])
                try await page.until("\(Self.words) === 'Undo true,Redo like null'")
                try await page.settle()
                let undone = try await page.shown(post)
                #expect(undone.likes == before.likes && undone.liked == before.liked)
                #expect(undone.marks == ["pending", "pending"])
                try await page.check()
                try await page.server.stage(["do": "reject", "id": "mia/1", "reason": "no"])
                try await page.until(post, is: "rejected")
                try await page.settle()
                // The undoing has nothing left to undo, and nothing is left to redo.
                #expect(try await page.shown(post).marks == ["rejected"])
                #expect(try await page.string(Self.words) == "Undo true,Redo true")
            }
        }
    }
}
