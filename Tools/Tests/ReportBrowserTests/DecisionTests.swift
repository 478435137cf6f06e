import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// Who did what, and what was refused: the page of a server's decisions.
    @Suite struct DecisionTests {
        private static let lanes = "[...document.querySelectorAll('#timeline-frame .lane')]"
        private static let labels = "\(lanes).map(lane => lane.getAttribute('aria-label'))"

        /// Returns the number of marks of an outcome in all rows.
        private static func marks(_ outcome: String) -> String {
            """
            (document.querySelector('#timeline-frame [data-outcome=\(outcome)] .outline')
                .getAttribute('d').split('M').length - 1)
            """
        }

        @Test(arguments: Shown.decisions)
        func `each account has a row with marks for what became of its intents`(
            shown: Shown
        ) async throws {
            let dan = #"dan <img src=x onerror=alert(1)>\u202e"#
            try await ReportBrowserTests.withPage(shown) { page in
                // The page opens on the last entry in which something was refused.
                #expect(try await page.selected == 6)
                #expect(
                    try await page.strings(Self.labels) == [
                        "ben: 2 accepted, 1 rejected, from replicas ben-phone, ben-tablet",
                        "cleo: 2 accepted, from replica cleo",
                        "\(dan): 1 accepted, 1 reworded, 2 rejected, from replica dan",
                        "mia: 1 accepted, 1 reworded, from replica mia-phone",
                    ])
                // An entry has one mark in a row: the worst of it.
                #expect(try await page.number(Self.marks("accepted")) == 5)
                #expect(try await page.number(Self.marks("reworded")) == 1)
                #expect(try await page.number(Self.marks("rejected")) == 2)
                #expect(
                    try await page.text("#timeline-words") == "entries 1 to 9 of 9, 4 accounts")
                #expect(
                    try await page.text("#details-title") == "Entry 6: 2 of 4 rejected")
                let cells = "#panel-entry .attributed tbody"
                let outcomes = try await page.texts("\(cells) td:nth-child(3)")
                #expect(outcomes == ["rejected", "rejected", "reworded", "accepted"])
                #expect(
                    try await page.text("\(cells) td:nth-child(4)")
                        == "rude: Not like this.")
                try await page.select(4)
                #expect(
                    try await page.text("#explanation .main-sentence")
                        == "Intent ben-tablet.1 of ben was rejected: rude: Not like this.")
                let row = try await page.texts("#list [data-sequence='4'] .words")
                #expect(row == ["ben: rude: Not like this. [ben-tablet.1]"])
                try await page.picture("decisions \(shown.testDescription)")
            }
        }

        @Test func `a row of a file leads to its entries, by keyboard and by click`() async throws {
            let shown = Shown(source: .decisions, way: .file)
            try await ReportBrowserTests.withPage(shown, fragment: "entry=6") { page in
                try await page.browser.run(
                    "document.querySelector('#timeline-frame .lane').focus()")
                let focus = "document.activeElement.dataset.actor"
                #expect(try await page.string(focus) == "ben")
                try await page.browser.press(.arrowLeft)
                try await page.until("document.documentElement.dataset.selected === '4'")
                try await page.browser.press(.arrowLeft)
                try await page.until("document.documentElement.dataset.selected === '3'")
                #expect(try await page.string(focus) == "ben")
                try await page.browser.press(.arrowDown)
                #expect(try await page.string(focus) == "cleo")
                try await page.browser.press(.arrowRight)
                try await page.until("document.documentElement.dataset.selected === '7'")
                try await page.browser.press(.enter)
                let count = "document.querySelector('#entries-count').textContent"
                try await page.until("\(count) === '2 of 9 entries match'")
                let pressed = "document.querySelector('[data-actor=cleo]').ariaPressed"
                #expect(try await page.string(pressed) == "true")
                try await page.click("[data-actor^=dan]")
                try await page.until("\(count) === '1 of 9 entries match'")
                try await page.click("[data-actor^=dan]")
                try await page.until("\(count) === '9 entries'")
            }
        }

        @Test func `many accounts stay bounded, and the rest is counted`() async throws {
            let crowd = Shown(source: .crowd, way: .file)
            try await ReportBrowserTests.withPage(crowd, fragment: "entry=40") { page in
                for _ in 1...6 { try await page.click("#zoom-out") }
                try await page.until("\(Self.lanes).length === 30")
                let labels = try await page.strings(Self.labels)
                #expect(labels.first == "user-00: 2 accepted, from replica user-00")
                #expect(labels.last == "16 other accounts: 16 accepted, 1 rejected")
                // All decisions are somewhere.
                let counts = labels.flatMap { $0.matches(of: /(\d+) (accepted|rejected)/) }
                    .compactMap { Int($0.1) }
                let sum = counts.reduce(0, +)
                #expect(sum == 78)
                try await page.picture("decisions of many")
            }
        }

        @Test(arguments: [
            LogPage.Display(), .init(isDark: true), .init(size: (390, 844)),
        ])
        func `axe finds no violation in rows of accounts`(display: LogPage.Display) async throws {
            let shown = Shown.decisions[0]
            try await ReportBrowserTests.withPage(shown, fragment: "entry=6", on: display) { page in
                #expect(try await page.axeViolations() == [])
                #expect(
                    try await page.bool(
                        "document.documentElement.scrollWidth <= window.innerWidth"))
                try await page.picture("decisions \(display.isDark) \(display.size.width)")
            }
        }

        @Test func `a page of descriptions says where to get the bytes`() async throws {
            try await ReportBrowserTests.withPage(
                Shown.decisions[0], fragment: "entry=6&tab=export"
            ) { page in
                try await page.click("[data-export=ndjson]")
                try await page.until(
                    "document.querySelector('#panel-export').innerText.includes('a file needs their bytes')"
                )
                #expect(try await page.text("#command").hasPrefix("feed-decisions export"))
            }
            try await ReportBrowserTests.withPage(
                Shown.decisions[1], fragment: "entry=6&tab=export"
            ) { page in
                try await page.click("[data-export=ndjson]")
                try await page.until("window.seen.files.length === 1")
                let written = try await Shown.decisions[1].run("export").output
                #expect(try await page.files() == [written])
            }
        }
    }
}
