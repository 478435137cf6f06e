import BrowserDriver
import Foldback
import Foundation
import Processes
import Testing

extension ReportBrowserTests {
    /// A device's log and the log of its space, in one timeline.
    @Suite struct SpaceTests {
        private static let lane =
            "document.querySelector('#server-lane svg').getAttribute('aria-label')"

        /// Returns who did what in the order of the server.
        private static let decisions =
            "foldback.source.decisions.list.map(({ actor, outcome }) => `${actor} ${outcome}`)"

        /// Returns the table of the server's decisions at the selected entry.
        private static let rows = """
            [...document.querySelectorAll('#panel-entry .attributed tbody tr')]
                .map((row) => [...row.children].map((cell) => cell.textContent).join(', '))
            """

        @Test func `a file shows when the server decided what the device had recorded`()
            async throws
        {
            let folder = try Folder()
            let follower = try await DecidedFeed.follower(in: folder)
            await follower.close()
            let page = try await Report.make(
                of: follower.device, by: "feed-decisions", "--space", follower.space, in: folder)
            try await ReportBrowserTests.withPage(page, fragment: "tab=intent&intent=2") { page in
                #expect(
                    try await page.strings(Self.decisions) == [
                        "mia accepted", "ben accepted", "ben rejected", "cleo accepted",
                        "mia rejected", "mia reworded", "ben accepted",
                    ])
                #expect(
                    try await page.string(Self.lane)
                        == "The server decided 7 intents here: 4 accepted, 1 reworded, 2 rejected")
                #expect(try await page.text("#source-words").hasSuffix("server's log space.log"))
                // The bar and the story say when the server decided.
                let bar = try await page.string(
                    "document.querySelector('[data-intent=\"2\"]').getAttribute('aria-label')")
                #expect(bar.contains(/, rejected by the server after entry \d+$/), "\(bar)")
                let ticks = "document.querySelectorAll('#lanes .decided').length"
                #expect(try await page.number(ticks) == 3)
                try await page.until(
                    "document.querySelector('#panel-intent').textContent.includes('The server decided on it at position 6, after entry ')"
                )
                // The device's last entry knows nothing of ben's comment.
                let last = try await page.number("foldback.source.last")
                try await page.select(Int64(last))
                try await page.click("#tab-entry")
                #expect(
                    try await page.strings(Self.rows) == [
                        "ben, ben-phone.3, accepted, commented: post mia-phone.1.0, text Good, by ben"
                    ])
                #expect(
                    try await page.text("#panel-entry .attributed caption")
                        == "What the server decided after this entry")
                let command = try await page.text("#command")
                #expect(command.hasSuffix(" --projection FoldbackExamples.Feed"), "\(command)")
                #expect(try await page.axeViolations() == [])
                try await page.picture("a space beside a device")
                try await page.click("#axis-time")
                #expect(try await page.string(Self.lane).hasPrefix("The server decided 7 intents"))
                try await page.picture("a space beside a device, by time")
            }
        }

        @Test
        func `the inspector shows what the server decides next, and when the device learns it`()
            async throws
        {
            let folder = try Folder()
            let follower = try await DecidedFeed.follower(in: folder)
            let inspector = try await Inspector.start(
                follower.device, by: "feed-decisions", "--space", follower.space)
            defer { inspector.end() }
            try await ReportBrowserTests.withPage(inspector.address) { page in
                let known = "foldback.source.decisions.list.map(({ isKnown }) => isKnown)"
                try await page.until("(\(known)).join() === 'true,true,true,true,true,true,false'")
                let last = Int64(try await page.number("foldback.source.last"))
                try await page.select(last)
                try await follower.send("cleo", .unfollowed("mia"))
                try await page.until("(\(known)).slice(6).join() === 'false,false'")
                try await page.until("\(Self.lane).startsWith('The server decided 8 intents')")
                try await page.until("(\(Self.rows)).length === 2")
                try await follower.sync()
                try await page.until("(\(known)).length === 8 && (\(known)).every((one) => one)")
                // Both still stand where they were made: after the entry that was the last.
                try await page.select(last)
                let caption =
                    "document.querySelector('#panel-entry .attributed caption').textContent"
                try await page.until(
                    "\(caption) === 'What the server decided between this entry and entry \(last + 1)'"
                )
                #expect(try await page.strings(Self.rows).count == 2)
            }
            await follower.close()
        }

        @Test func `logs that do not belong together, and impossible options, are refused`()
            async throws
        {
            let folder = try Folder()
            let follower = try await DecidedFeed.follower(in: folder)
            await follower.close()
            let other = try await DecidedFeed.few(in: folder)
            func refusal(_ words: String...) async throws -> String {
                let words = ["export", follower.device, "-o", folder.path("page.html")] + words
                return try await runTool(["feed-decisions"] + words, statuses: [2]).errors
            }
            let strange = try await refusal("--as", "page", "--space", other)
            #expect(strange.contains("the log does not follow \(other): entry "), "\(strange)")
            let redacted = try await refusal(
                "--as", "page", "--space", follower.space, "--keep", "/nothing")
            #expect(redacted.contains("--space shows what other accounts did"), "\(redacted)")
            let form = try await refusal("--as", "bundle", "--space", follower.space)
            #expect(form.contains("--space is only for --as page"), "\(form)")
            let twice = try await refusal(
                "--as", "page", "--space", follower.space, "--projection",
                "decided FoldbackExamples.Feed")
            #expect(twice.contains("--space goes with a device's log"), "\(twice)")
            let lacking = try await runTool(
                "feed-replay", "inspect", follower.device, "--space", follower.space,
                statuses: [2])
            #expect(lacking.errors.contains("--space needs a projection of decisions"))
            #expect(!FileManager.default.fileExists(atPath: folder.path("page.html")))
        }
    }
}
