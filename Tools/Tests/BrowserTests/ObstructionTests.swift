import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// Waits that block something, and waits that do not.
    @Suite struct ObstructionTests {
        private static let dialog = "document.querySelector('dialog#overlay')"

        @Test func `B10: an obstructive wait takes the focus and gives it back`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let button = "boost-\(post)"
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
                try await Self.expectFocusInDialog(page)
                for modifiers in [[], [WebDriver.Key.shift]] {
                    for _ in 0..<8 {
                        try await page.browser.press(.tab, with: modifiers)
                        try await Self.expectFocusInDialog(page)
                    }
                }
                // Nothing can be canceled yet.
                try await page.browser.press(.escape)
                try await page.settle()
                try await Self.expectFocusInDialog(page)
                #expect(try await page.picture("B10-overlay") != picture)
                try await page.check()
                let refused = await #expect(throws: WebDriverError.self) {
                    try await page.click("[id='\(button)']")
                }
                #expect(refused?.kind == "element click intercepted")
                let boosts = "requests.filter(request => request.do === 'boost').length"
                #expect(try await page.number(boosts) == 1)
                #expect(try await page.server.stage()["held"]?.arrayValue?.count == 1)

                try await page.server.release()
                try await page.until("!\(Self.dialog).open")
                #expect(try await page.focus() == button)
                #expect(try await page.server.stage()["held"] == [])
            }
        }

        @Test(arguments: ["cancel", "continueInBackground"])
        func `B10: from ten seconds on, an obstructive wait can be left`(
            action: String
        ) async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let (button, wait) = ("boost-\(post)", "boost:\(post)")
                try await page.begin("[id='\(button)']", holding: "mia-1")
                try await page.advance(milliseconds: 9_999)
                try await Self.expectFocusInDialog(page)
                #expect(try await page.wait(wait).actions == [])
                try await page.advance(milliseconds: 1)
                try await Self.expectFocusInDialog(page)
                #expect(try await page.wait(wait).actions == ["cancel", "continueInBackground"])
                try await page.check()
                if action == "cancel" {
                    try await page.browser.press(.escape)
                } else {
                    try await page.click("[id='\(action)-\(wait)']")
                }
                try await page.until("!\(Self.dialog).open")
                #expect(try await page.focus() == button)
                #expect(try await page.wait(wait) == ShownWait())
                try await page.check()
                // It has left the device, so the server decides.
                try await page.server.release()
                try await page.until(post, is: "settled")
                #expect(try await page.bool("!\(page.row(post)).querySelector('.reach').hidden"))
                #expect(try await page.focus() == button)
            }
        }

        @Test func `B10: a stalled dialog keeps the focus`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let wait = "boost:\(post)"
                try await page.begin("[id='boost-\(post)']", holding: "mia-1")
                try await page.advance(milliseconds: 29_999)
                try await Self.expectFocusInDialog(page)
                #expect(!(try await page.wait(wait).actions.contains("restart")))
                let long = try await page.picture("B10-long")
                try await page.advance(milliseconds: 1)
                #expect(try await page.wait(wait).actions.contains("restart"))
                try await Self.expectFocusInDialog(page)
                for _ in 0..<6 {
                    try await page.browser.press(.tab)
                    try await Self.expectFocusInDialog(page)
                }
                #expect(try await page.picture("B10-stalled") != long)
                try await page.check()
                try await page.click("[id='restart-\(wait)']")
                try await page.until("!document.querySelector('[data-action=restart]')")
                try await page.advance(milliseconds: 100)
                try await Self.expectFocusInDialog(page)
                try await page.server.release()
                try await page.until("!\(Self.dialog).open")
                #expect(try await page.focus() == "boost-\(post)")
            }
        }

        /// Requires that the dialog is open and has the focus.
        private static func expectFocusInDialog(
            _ page: FeedPage, at place: SourceLocation = #_sourceLocation
        ) async throws {
            let isInside = try await page.bool(
                "\(dialog).matches(':modal') && \(dialog).contains(document.activeElement)")
            #expect(isInside, sourceLocation: place)
        }

        @Test func `B10: a parallel wait never moves the focus`() async throws {
            try await BrowserTests.withPage(
                query: "&scene=waits", before: { try await $0.hold() }
            ) { page in
                try await page.begin("#chart-load", holding: "mia-chart")
                try await page.browser.run(
                    """
                    window.focused = [];
                    for (const kind of ["focusin", "focusout"]) addEventListener(
                        kind, ({ target }) => focused.push(kind + " " + target.id), true);
                    """)
                for milliseconds in [100, 900, 2_000, 7_000, 20_000] {
                    try await page.advance(milliseconds: milliseconds)
                    #expect(try await page.focus() == "chart-load")
                }
                try await page.server.release()
                try await page.until("document.querySelector('#chart svg')")
                #expect(try await page.strings("window.focused") == [])
                #expect(try await page.focus() == "chart-load")
            }
        }

        @Test func `B10: signing in covers the page until it ends`() async throws {
            try await BrowserTests.withPage(query: "&scene=waits") { page in
                try await page.click("#sign-out")
                try await page.until("document.querySelector('#sign-in').checkVisibility()")
                #expect(try await page.focus() != "BODY")
                try await page.server.hold()
                try await page.begin("#sign-in", holding: "mia-signIn")
                let before = try await page.picture("B10-before-signing-in")
                try await page.advance(milliseconds: 100)
                try await Self.expectFocusInDialog(page)
                #expect(try await page.wait("signIn").isBusy)
                #expect(before != (try await page.picture("B10-sign-in")))
                try await page.check()

                // A stalled wait has no indicator, and its dialog still hears Esc.
                try await page.advance(milliseconds: 29_900)
                #expect(try await page.wait("signIn").indicator == nil)
                try await Self.expectFocusInDialog(page)
                try await page.check()
                try await page.browser.press(.escape)
                try await page.until("!\(Self.dialog).open")
                #expect(try await page.focus() == "sign-in")

                // The button is hidden afterwards, so the focus goes to its neighbor.
                try await page.begin("#sign-in", holding: "mia-signIn")
                try await page.advance(milliseconds: 100)
                try await page.server.release()
                try await page.until("!\(Self.dialog).open")
                #expect(try await page.server.state(of: "mia")["signedIn"] == true)
                try await page.advance(milliseconds: 1_000)
                #expect(try await page.focus() == "signed-in-text")
            }
        }

        @Test func `B11: a bar never falls`() async throws {
            try await BrowserTests.withUpload { page in
                try await page.watchIndicators(of: "upload")
                try await page.advance(milliseconds: 100)
                #expect(try await page.wait("upload").indicator == "bar")
                let before = try await page.picture("B11-before")
                let estimate =
                    "document.querySelector('[data-wait=upload] .wait-remaining').innerText"
                for (fraction, remaining) in [
                    (0.2, ""), (0.1, ""), (0.5, "About 5 seconds"), (0.4, "About 5 seconds"),
                    (0.9, ""),
                ] {
                    try await page.fraction(fraction)
                    try await page.advance(milliseconds: 1_000)
                    #expect(try await page.string(estimate) == remaining)
                }
                #expect(
                    try await page.strings("window.indicators") == [
                        "none", "bar indeterminate", "bar 20", "bar 50", "bar 90",
                    ])
                #expect(before != (try await page.picture("B11-bar")))
            }
        }

        @Test func `B11: a stalled wait can be restarted`() async throws {
            try await BrowserTests.withUpload { page in
                try await page.advance(milliseconds: 29_999)
                #expect(try await page.wait("upload").actions.contains("cancel"))
                #expect(!(try await page.wait("upload").actions.contains("restart")))
                _ = try await page.announcements()
                let long = try await page.picture("B11-long")
                try await page.advance(milliseconds: 1)
                let stalled = try await page.wait("upload")
                #expect(stalled.actions.contains("restart") && stalled.indicator == nil)
                #expect(!stalled.isBusy)
                let said = try await page.announcements()
                #expect(said.count == 1 && said.first?.region == "alert", "\(said)")
                #expect(said.allSatisfy { $0.text.contains("has stalled") }, "\(said)")
                #expect(long != (try await page.picture("B11-stalled")))
                try await page.check()

                try await page.click("#restart-upload")
                try await page.until("!document.querySelector('#restart-upload')")
                try await page.advance(milliseconds: 100)
                let again = try await page.wait("upload")
                #expect(again.isBusy && again.indicator == "bar")
                try await page.server.release()
                _ = try await page.row(saying: "A picture")
            }
        }
    }
}
