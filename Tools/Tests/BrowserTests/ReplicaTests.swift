import BrowserDriver
import Testing

extension BrowserTests {
    /// Several devices.
    @Suite struct ReplicaTests {
        @Test func `B13: two people see each other's posts and likes`() async throws {
            try await BrowserTests.withPage { mia in
                let ben = try await FeedPage.open(mia.browser, mia.server, as: "ben")
                for page in [mia, ben] { try await page.loaded() }
                let empty = try await ben.picture("B13-ben-before")
                try await mia.browser.show(mia.window)
                try await mia.browser.type("Hello, Ben", into: "#post-text")
                try await mia.click("#post-send")
                let post = try await ben.row(saying: "Hello, Ben")
                #expect(try await ben.picture("B13-ben-after") != empty)
                try await mia.until(post, is: "settled")

                let before = try await mia.picture("B13-mia-before")
                try await mia.server.hold()
                try await mia.click("[id='like-\(post)']")
                try await ben.click("[id='like-\(post)']")
                try await mia.until("document.querySelector('#stage-accept-ben-1')")
                for page in [mia, ben] {
                    #expect(try await page.shown(post).likes == 1)
                    #expect(try await page.shown(post).state == "pending")
                }
                // Ben's answer comes first, although he asked last.
                try await mia.server.release("ben/1")
                try await ben.until(post, is: "settled")
                try await mia.until("\(mia.row(post)).querySelector('.likes').textContent === '2'")
                #expect(try await mia.shown(post).state == "pending")
                try await mia.server.release("mia/2")
                try await mia.until(post, is: "settled")
                try await ben.until("\(ben.row(post)).querySelector('.likes').textContent === '2'")
                for page in [mia, ben] {
                    try await page.settle()
                    let shown = try await page.shown(post)
                    #expect(shown.likes == 2 && shown.liked == "true" && shown.marks == [])
                }
                #expect(before != (try await mia.picture("B13-mia")))
            }
        }
    }
}
