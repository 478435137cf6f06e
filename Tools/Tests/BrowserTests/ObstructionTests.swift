import BrowserDriver
import Foldback
import Foundation
import Testing

extension BrowserTests {
    /// Waits that block something, and waits that do not.
    @Suite struct ObstructionTests {
        private static let dialog = "document.querySelector('dialog#overlay')"

        @Test func `B10: an obstructive wait takes the focus and gives it back`() async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                let post = try #require(try await page.rows("post").first)
                let button = "boost-\(post)"
                try await page.server.hold()
                try await page.begin("[id='\(button)']", holding: "mia-1")
                // Blocked from the start, before anything shows it.
                try await page.click("[id='\(button)']")
                try await page.advance(milliseconds: 99)
                #expect(try await page.bool("!\(Self.dialog).open"))
                #expect(try await page.focus() == button)
                // The focus may move on before the overlay appears.
                try await page.browser.press(.tab)
                #expect(try await page.focus() != button)
                let picture = try await page.picture("B10-before")

                try await page.advance(milliseconds: 1)
                #expect(try await page.bool("\(Self.dialog).matches(':modal')"))
                #expect(try await page.bool("\(Self.dialog).contains(document.activeElement)"))
                for _ in 0..<8 {
                    try await page.browser.press(.tab)
                    #expect(try await page.bool("\(Self.dialog).contains(document.activeElement)"))
                }
                #expect(try await page.picture("B10-overlay") != picture)
                try await page.check()
                await #expect(throws: WebDriverError.self) {
                    try await page.click("[id='\(button)']")
                }
                let boosts = "requests.filter(request => request.do === 'boost').length"
                #expect(try await page.number(boosts) == 1)
                #expect(try await page.server.stage()["held"]?.arrayValue?.count == 1)

                try await page.server.release()
                try await page.until("!\(Self.dialog).open")
                try await page.settle()
                #expect(try await page.focus() == button)
                #expect(try await page.server.stage()["held"] == [])
                try await page.check()
            }
        }

        @Test func `B10: a parallel wait never moves the focus`() async throws {
            try await BrowserTests.withPage(
                query: "&scene=waits", before: { try await $0.hold() }
            ) { page in
                try await page.begin("#chart-load", holding: "mia-chart")
                try await page.watchFocus()
                for milliseconds in [100, 900, 2_000, 7_000, 20_000] {
                    try await page.advance(milliseconds: milliseconds)
                    #expect(try await page.focus() == "chart-load")
                }
                try await page.server.release()
                try await page.until("document.querySelector('#chart svg')")
                try await page.settle()
                #expect(try await page.strings("window.focused") == [])
                #expect(try await page.focus() == "chart-load")
                try await page.check()
            }
        }

        @Test func `B10: signing in covers the page until it ends`() async throws {
            try await BrowserTests.withPage(query: "&scene=waits") { page in
                if try await page.server.state(of: "mia")["signedIn"] == true {
                    try await page.perform(["do": "signOut"])
                }
                try await page.server.hold()
                try await page.begin("#sign-in", holding: "mia-signIn")
                try await page.advance(milliseconds: 100)
                #expect(try await page.bool("\(Self.dialog).matches(':modal')"))
                #expect(try await page.bool("\(Self.dialog).contains(document.activeElement)"))
                try await page.picture("B10-sign-in")
                try await page.check()
                try await page.server.release()
                try await page.until("!\(Self.dialog).open")
                try await page.settle()
                #expect(try await page.server.state(of: "mia")["signedIn"] == true)
                #expect(try await page.focus() != "BODY")
                try await page.check()
            }
        }

        @Test func `B11: a bar never falls`() async throws {
            try await withUpload { page in
                try await page.browser.run(
                    """
                    window.values = [];
                    const note = () => values.push(
                        document.querySelector("[data-wait=upload] [role=progressbar]")
                            ?.getAttribute("aria-valuenow") ?? "none");
                    new MutationObserver(note).observe(
                        document.body, { subtree: true, attributeFilter: ["data-revision"] });
                    """)
                try await page.advance(milliseconds: 100)
                #expect(try await page.wait("upload").indicator == "bar")
                let estimate =
                    "document.querySelector('[data-wait=upload] .wait-remaining').innerText"
                for (fraction, remaining) in [
                    (0.2, ""), (0.1, ""), (0.5, "About 5 seconds"), (0.4, "About 5 seconds"),
                    (0.9, ""),
                ] {
                    try await page.server.stage([
                        "do": "fraction", "wait": "upload", "value": .double(fraction),
                    ])
                    try await page.advance(milliseconds: 1_000)
                    #expect(try await page.string(estimate) == remaining)
                }
                var values: [String] = []
                for value in try await page.strings("window.values") where value != values.last {
                    values.append(value)
                }
                #expect(values.drop { $0 == "none" } == ["0", "20", "50", "90"])
                try await page.picture("B11-bar")
                try await page.check()
            }
        }

        @Test func `B11: a stalled wait can be restarted`() async throws {
            try await withUpload { page in
                try await page.listen()
                try await page.advance(milliseconds: 29_999)
                #expect(try await page.wait("upload").actions.contains("cancel"))
                #expect(!(try await page.wait("upload").actions.contains("restart")))
                _ = try await page.announcements()
                try await page.advance(milliseconds: 1)
                let stalled = try await page.wait("upload")
                #expect(stalled.actions.contains("restart") && stalled.indicator == nil)
                #expect(!stalled.isBusy)
                let said = try await page.announcements()
                #expect(said.count == 1 && said.first?.region == "alert", "\(said)")
                #expect(said.allSatisfy { $0.text.contains("has stalled") }, "\(said)")
                try await page.picture("B11-stalled")
                try await page.check()

                try await page.click("#restart-upload")
                try await page.until("!document.querySelector('#restart-upload')")
                try await page.settle()
                try await page.advance(milliseconds: 100)
                let again = try await page.wait("upload")
                #expect(again.isBusy && again.indicator == "bar")
                try await page.server.release()
                _ = try await page.row(saying: "A picture")
                try await page.check()
            }
        }

        /// Runs a test whose upload has just begun.
        private func withUpload(_ test: (FeedPage) async throws -> Void) async throws {
            try await BrowserTests.withPage { page in
                try await page.loaded()
                try await page.server.hold()
                try await page.browser.type("A picture", into: "#post-text")
                try await page.begin("#upload-send", holding: "mia-upload")
                try await test(page)
            }
        }
    }
}
