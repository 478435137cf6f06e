import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// What a person sees and hears of waits. Most tests wait for the chart, which nothing else
    /// depends on.
    @Suite struct WaitTests {
        private static let scene = "&scene=waits"
        private static let unhurried = "&scene=waits&policy=unhurried"
        private static let chart = "document.querySelector('#chart svg')"
        private static let animations = "document.getAnimations().length"

        /// Runs a test whose chart has just begun to load.
        private func withChart(
            _ query: String, _ test: (FeedPage) async throws -> Void
        ) async throws {
            try await BrowserTests.withPage(query: query, before: { try await $0.hold() }) { page in
                try await page.watchIndicators(of: "chart")
                try await page.begin("#chart-load", holding: "mia-chart")
                try await test(page)
            }
        }

        @Test func `B7: a wait shows and says more with time`() async throws {
            try await withChart(Self.scene) { page in
                try await page.advance(milliseconds: 99)
                #expect(try await page.wait("chart") == ShownWait())
                let nothing = try await page.picture("B7-at-99-ms")
                try await page.advance(milliseconds: 1)
                #expect(
                    try await page.wait("chart") == ShownWait(isBusy: true, indicator: "spinner"))
                let spinner = try await page.picture("B7-at-100-ms")
                try await page.advance(milliseconds: 899)
                #expect(try await page.wait("chart").text == "")
                try await page.advance(milliseconds: 1)
                let text = try await page.wait("chart")
                #expect(text.indicator == "spinner" && text.text.hasPrefix("Loading"))
                let words = try await page.picture("B7-at-1-s")
                try await page.advance(milliseconds: 2_000)
                #expect(try await page.wait("chart").text.hasPrefix("Still loading"))
                #expect(try await page.wait("chart").actions == [])
                let still = try await page.picture("B7-at-3-s")
                try await page.check()
                try await page.advance(milliseconds: 7_000)
                let long = try await page.wait("chart")
                #expect(long.text.hasPrefix("Still loading") && long.actions == ["cancel"])
                let cancel = try await page.picture("B7-at-10-s")
                #expect(Set([nothing, spinner, words, still, cancel]).count == 5)
                #expect(long.text == "Still loading the chart. This takes long.")
                try await page.check()
                try await page.server.release()
                try await page.until(Self.chart)
                #expect(
                    try await page.announcements() == [
                        .polite("Loading the chart"), .polite("Still loading the chart"),
                        .polite("Still loading the chart, 10 seconds. This takes long."),
                        .polite("Finished loading the chart"),
                    ])
            }
        }

        @Test func `B7: a long wait with a fraction says how long it will take`() async throws {
            try await BrowserTests.withUpload { page in
                let estimate =
                    "document.querySelector('[data-wait=upload] .wait-remaining').innerText"
                try await page.advance(milliseconds: 5_000)
                try await page.fraction(0.1)
                try await page.advance(milliseconds: 2_000)
                #expect(try await page.string(estimate) == "")
                try await page.fraction(0.3)
                #expect(try await page.string(estimate) == "About 10 seconds")
                try await page.advance(milliseconds: 2_999)
                #expect(try await page.string(estimate) == "About 5 seconds")
                #expect(try await page.wait("upload").text == "Still sending the photo")
                try await page.advance(milliseconds: 1)
                let long = try await page.wait("upload")
                // The text says it now.
                #expect(try await page.string(estimate) == "")
                #expect(long.text == "Still sending the photo, about 5 seconds left")
                #expect(long.actions == ["cancel"])
                #expect(
                    try await page.announcements() == [
                        .polite("Sending the photo"), .polite("Still sending the photo"),
                        .polite("Still sending the photo, 10 seconds, about 5 seconds left"),
                    ])
            }
        }

        @Test func `B7: a long wait can be canceled`() async throws {
            try await withChart(Self.scene) { page in
                try await page.advance(milliseconds: 10_000)
                try await page.click("#cancel-chart")
                try await page.until("!document.querySelector('#cancel-chart')")
                #expect(
                    try await page.announcements().last == .polite("Canceled loading the chart"))
                try await page.server.release()
                try await page.advance(milliseconds: 10_000)
                #expect(try await page.wait("chart") == ShownWait())
                #expect(try await page.value(Self.chart) == .null)
                #expect(try await page.announcements() == [])
            }
        }

        @Test func `B7: an unhurried wait shows no motion in the first second`() async throws {
            try await withChart(Self.unhurried) { page in
                try await page.advance(milliseconds: 99)
                #expect(try await page.wait("chart") == ShownWait())
                try await page.advance(milliseconds: 1)
                #expect(try await page.wait("chart") == ShownWait(isBusy: true))
                try await page.advance(milliseconds: 899)
                #expect(try await page.wait("chart") == ShownWait(isBusy: true))
                #expect(try await page.number(Self.animations) == 0)
                try await page.advance(milliseconds: 1)
                let shown = try await page.wait("chart")
                #expect(shown.indicator == "spinner" && shown.text.hasPrefix("Loading"))
                #expect(try await page.number(Self.animations) > 0)
            }
        }

        /// The ends of waits in milliseconds, and of their indicators; nil if there is none.
        private static let ends: [(query: String, end: Int, indicatorEnd: Int?)] = [
            (scene, 200, 600), (scene, 90, nil), (unhurried, 1_100, 1_500), (unhurried, 900, nil),
        ]

        @Test(arguments: ends)
        func `B8: an indicator does not flicker, and content is never late`(
            query: String, end: Int, indicatorEnd: Int?
        ) async throws {
            try await withChart(query) { page in
                try await page.advance(milliseconds: end)
                let indicator = try await page.wait("chart").indicator
                #expect((indicator != nil) == (indicatorEnd != nil))
                try await page.server.release()
                try await page.until(Self.chart)
                if let indicatorEnd {
                    #expect(try await page.wait("chart").indicator == "spinner")
                    try await page.advance(milliseconds: indicatorEnd - end - 1)
                    #expect(try await page.wait("chart").indicator == "spinner")
                    try await page.advance(milliseconds: 1)
                }
                #expect(try await page.wait("chart") == ShownWait())
                try await page.advance(milliseconds: 20_000)
                #expect(try await page.wait("chart") == ShownWait())
                let indicators = indicatorEnd == nil ? [] : ["spinner indeterminate", "none"]
                #expect(try await page.strings("window.indicators") == ["none"] + indicators)
                let said = try await page.announcements()
                // Only a wait whose start was announced announces its end.
                #expect(said.count == (end < 1_000 ? 0 : 2), "\(said)")
            }
        }

        @Test func `B9: with reduced motion, text that changes takes the place of motion`()
            async throws
        {
            try await withChart(Self.scene) { page in
                try await page.advance(milliseconds: 1_500)
                #expect(try await page.wait("chart").indicator == "spinner")
                #expect(try await page.number(Self.animations) > 0)
                let motion = try await page.picture("B9-motion")

                try await page.reduceMotion(true)
                let text = try await page.wait("chart")
                #expect(text.indicator == "text" && text.text.hasPrefix("Loading"))
                #expect(try await page.number(Self.animations) == 0)
                #expect(try await page.picture("B9-reduced-motion") != motion)
                try await page.check()
                var texts = [text.text]
                // Until 3, 5, 7 and 9 s.
                for milliseconds in [1_499, 1_999, 1_999, 1_999] {
                    try await page.advance(milliseconds: milliseconds)
                    #expect(try await page.wait("chart").text == texts.last)
                    try await page.advance(milliseconds: 1)
                    texts.append(try await page.wait("chart").text)
                }
                #expect(Set(texts).count == texts.count, "\(texts)")
                #expect(try await page.number(Self.animations) == 0)
                try await page.reduceMotion(false)
                #expect(try await page.wait("chart").indicator == "spinner")
                #expect(try await page.number(Self.animations) > 0)
            }
        }

        @Test func `B9: a page that opens with reduced motion never moves`() async throws {
            try await BrowserTests.withPage(
                query: Self.scene, on: FeedPage.Display(isMotionReduced: true),
                before: { try await $0.hold() }
            ) { page in
                try await page.until("document.documentElement.dataset.motion === 'true'")
                try await page.watchIndicators(of: "chart")
                try await page.begin("#chart-load", holding: "mia-chart")
                for milliseconds in [100, 900, 2_000, 7_000] {
                    try await page.advance(milliseconds: milliseconds)
                    #expect(try await page.wait("chart").indicator == "text")
                    #expect(try await page.number(Self.animations) == 0)
                }
                try await page.server.release()
                try await page.until(Self.chart)
                #expect(
                    try await page.strings("window.indicators")
                        == ["none", "text indeterminate", "none"])
            }
        }

        @Test func `B9: placeholders shimmer only without reduced motion`() async throws {
            try await BrowserTests.withPage(before: { try await $0.hold() }) { page in
                try await page.until("document.querySelector('[data-kind=placeholder]')")
                #expect(try await page.number(Self.animations) > 0)
                try await page.reduceMotion(true)
                #expect(try await page.number(Self.animations) == 0)
            }
        }
    }
}
