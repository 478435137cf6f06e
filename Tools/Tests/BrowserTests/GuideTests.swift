import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// What a person needs who sees the page for the first time, or who uses it by keyboard.
    @Suite struct GuideTests {
        /// The page showed the second of the five words forever: the message of a decision comes
        /// before the message of its answer.
        @Test func `the guide checks off each word when a person follows its hints`() async throws {
            try await BrowserTests.withFeed(ignoring: ["net::ERR_"]) { page, post in
                #expect(try await page.wordsSeen() == [])
                #expect(try await page.hintedWord() == "optimistic")
                try await page.click("#stage-hold")
                try await page.begin("[id='like-\(post)']", holding: "mia-1")

                #expect(try await page.hintedWord() == "pending")
                try await page.click("#stage-accept-mia-1")
                try await page.until("document.body.dataset.next === 'rejected'")
                try await page.check()

                try await page.browser.type("Not allowed", into: "[id='comment-text-\(post)']")
                try await page.begin("[id='comment-\(post)']", holding: "mia-2")
                try await page.click("#stage-reject-mia-2")
                try await page.until("document.body.dataset.next === 'conflicted'")

                // Another scene of the same window goes on.
                try await page.click("[data-to-scene=waits]")
                try await page.until("document.body.dataset.next === 'conflicted'")
                try await page.click("[data-to-scene=feed]")
                try await page.loaded()
                try await page.browser.type("Too late", into: "[id='comment-text-\(post)']")
                try await page.begin("[id='comment-\(post)']", holding: "mia-3")
                try await page.click("#stage-conflict")
                try await page.until("document.body.dataset.next === 'offline'")
                try await page.picture("guide-offline")
                try await page.check()

                try await page.click("#stage-offline")
                try await page.until("document.querySelector('#link').innerText === 'offline'")
                #expect(try await page.string("document.querySelector('#link').role") == "status")
                let other = try #require(try await page.rows("post").first)
                try await page.click("[id='like-\(other)']")
                try await page.until(other, is: "pending")
                try await page.click("#stage-crash")
                try await page.until("!document.body.dataset.next")
                #expect(try await page.wordsSeen().count == 5)
                #expect(
                    try await page.bool("document.querySelector('#guide-done').checkVisibility()"))
            }
        }

        @Test func `on a phone, the guide shows one word and its hint`() async throws {
            try await BrowserTests.withPage(on: FeedPage.Display(width: 390)) { page in
                try await page.loaded()
                let words = "[...document.querySelectorAll('#guide > li')]"
                #expect(
                    try await page.strings(
                        "\(words).filter(word => word.checkVisibility()).map(word => word.dataset.word)"
                    ) == ["optimistic"])
                #expect(
                    try await page.bool(
                        "document.querySelector('[data-word=optimistic] .try').checkVisibility()"))
                try await page.check()
                try await page.click("#guide-toggle")
                #expect(try await page.bool("\(words).every(word => word.checkVisibility())"))
            }
        }

        @Test func `accepting a held request leaves the focus among the held requests`()
            async throws
        {
            try await BrowserTests.withFeed(isHolding: true) { page, _ in
                for (index, post) in try await page.rows("post").prefix(3).enumerated() {
                    try await page.begin("[id='like-\(post)']", holding: "mia-\(index + 1)")
                }
                try await page.press("stage-accept-mia-2")
                #expect(try await page.focus() == "stage-accept-mia-3")
                try await page.press("stage-accept-mia-3")
                #expect(try await page.focus() == "stage-accept-mia-1")
                try await page.press("stage-reject-mia-1")
                #expect(try await page.focus() == "held-title")
                // This button goes away, too.
                let post = try #require(try await page.rows("post").last)
                try await page.begin("[id='like-\(post)']", holding: "mia-4")
                try await page.press("stage-release")
                #expect(try await page.focus() == "held-title")
            }
        }

        @Test func `a mark is drawn only if the answer takes a moment`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, _ in
                for isReduced in [false, true] {
                    if isReduced { try await page.reduceMotion(true) }
                    let post = try await page.rows("post")[isReduced ? 1 : 0]
                    try await page.browser.run(
                        """
                        new MutationObserver((records, observer) => {
                            const mark = document.querySelector("[data-id='\(post)'] [data-mark]");
                            if (!mark) return;
                            observer.disconnect();
                            window.drawn = getComputedStyle(mark).visibility;
                            document.getAnimations().forEach(animation => animation.finish());
                            window.drawnLater = getComputedStyle(mark).visibility;
                        }).observe(document.querySelector("#feed"),
                            { subtree: true, childList: true });
                        """)
                    try await page.click("[id='like-\(post)']")
                    try await page.until("window.drawnLater === 'visible'")
                    #expect(
                        try await page.string("window.drawn") == (isReduced ? "visible" : "hidden"))
                    #expect(
                        try await page.number("document.getAnimations().length") == 0 || !isReduced)
                    try await page.browser.run("delete window.drawnLater")
                }
            }
        }

        @Test func `a page that failed to show a message asks for everything`() async throws {
            try await BrowserTests.withFeed { page, _ in
                try await page.browser.run(
                    """
                    window.addresses = [];
                    const Events = EventSource;
                    // The first attempt to connect again fails.
                    window.EventSource = class extends Events {
                        constructor(address) {
                            super(addresses.length === 0 ? "/r/nobody/events" : address);
                            addresses.push(address);
                        }
                    };
                    const show = receive;
                    window.receive = () => {
                        window.receive = show;
                        throw new Error("a fault");
                    };
                    """)
                try await page.server.perform(["do": "post", "text": "Hello"], as: "ben")
                _ = try await page.row(saying: "Hello")
                #expect(try await page.number("addresses.length") == 2)
                #expect(
                    try await page.bool("addresses.every(address => !address.includes('after'))"))
                // The page has reported the fault.
                _ = try await page.browser.console()
            }
        }

        @Test func `Ctrl with Home or End leaves the feed`() async throws {
            try await BrowserTests.withFeed { page, _ in
                for (key, target) in [(WebDriver.Key.end, "stage-hold"), (.home, "upload-send")] {
                    try await page.browser.run("document.querySelectorAll('article')[2].focus()")
                    try await page.browser.press(key, with: [.control])
                    #expect(try await page.focus() == target)
                }
            }
        }
    }
}

extension FeedPage {
    /// The words that the guide has checked off.
    fileprivate func wordsSeen() async throws -> [String] {
        try await strings(
            "[...document.querySelectorAll('#guide [data-seen]')].map(word => word.dataset.word)")
    }

    /// The word whose hint is visible.
    fileprivate func hintedWord() async throws -> String {
        try await string(
            """
            [...document.querySelectorAll("#guide .try")].filter(hint => hint.checkVisibility())
                .map(hint => hint.closest("[data-word]").dataset.word).join(" ")
            """)
    }

    /// Presses a button of the stage by keyboard, and returns when it is gone.
    fileprivate func press(_ id: String) async throws {
        try await browser.run("document.getElementById('\(id)').focus()")
        try await browser.press(.enter)
        try await until("!document.getElementById('\(id)')?.checkVisibility()")
    }
}
