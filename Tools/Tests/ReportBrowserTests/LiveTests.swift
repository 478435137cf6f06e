import BrowserDriver
import Foldback
import Foundation
import Processes
import Testing

extension ReportBrowserTests {
    /// A log that another process writes while the inspector's page is open.
    @Suite struct LiveTests {
        private static func set(_ key: String, _ value: Int) -> String {
            #"{"do":"record","event":{"op":"set","key":"\#(key)","value":\#(value)}}"#
        }

        @Test func `new entries arrive, and the page reports the end of a killed writer`()
            async throws
        {
            let folder = try Folder()
            let log = folder.path("live.log")
            let writer = try ShellProcess(log, ["--replica", "me"])
            try writer.perform(Self.set("a", 1))
            let inspector = try await Inspector.start(log)
            defer { inspector.end() }
            try await ReportBrowserTests.withPage(inspector.address) { page in
                let live = "document.querySelector('#live').textContent"
                try await page.until("\(live).startsWith('live: a process')")
                #expect(try await page.selected == 1)
                // The selection was at the end, so it follows the end.
                try writer.perform(Self.set("b", 2))
                try await page.until("document.documentElement.dataset.selected === '2'")
                #expect(try await page.state["view"] == ["a": 1, "b": 2])
                try await page.until("document.querySelector('#list [data-sequence=\"2\"]')")
                try await page.until("window.seen.announced.includes('1 new entry.')")
                // A selection elsewhere stays.
                try await page.select(1)
                for number in 3...20 { try writer.perform(Self.set("c", number)) }
                try await page.until(
                    "document.querySelector('#entries-count').textContent === '20 entries'")
                #expect(try await page.selected == 1)
                // The list can be newer than the head for a moment.
                try await page.until(
                    "[...document.querySelectorAll('#chips dd')].some("
                        + "(one) => one.textContent === '20')")
                try await page.picture("live")
                // The counts need a fold. Once they stayed unknown for 20 seconds, or until a reload.
                let start = ContinuousClock.now
                try writer.perform(
                    #"{"do":"record","event":{"op":"set","key":"a","value":2,"require":"absent"},"force":true}"#
                )
                try await page.until(
                    """
                    [...document.querySelectorAll('#chips .chip')].some((chip) =>
                        chip.querySelector('dt').textContent.includes('Conflicted')
                            && chip.querySelector('dd').textContent === '1')
                    """)
                #expect(ContinuousClock.now - start < .seconds(15))

                writer.kill()
                try await page.until("\(live) === 'not live: no process has the log open'")
                try await page.select(21)
                #expect(try await page.state["view"] == ["a": 1, "b": 2, "c": 20])
                try await page.picture("writer gone")

                // The next writer goes on, and so does the page.
                let next = try ShellProcess(log)
                try await page.until("\(live).startsWith('live: a process')")
                try next.perform(Self.set("d", 4))
                try await page.until("document.documentElement.dataset.selected === '22'")
                #expect(try await page.state["view"]?["d"] == 4)
                next.finish()
                try await page.until("\(live) === 'not live: no process has the log open'")
            }
        }

        @Test func `the page reports the end of the inspector, and stays readable`() async throws {
            let folder = try Folder()
            let log = try Recipes.log("log", [Self.set("a", 1), Self.set("b", 2)], in: folder)
            let inspector = try await Inspector.start(log)
            try await ReportBrowserTests.withPage(inspector.address, ignoring: ["/api/"]) { page in
                inspector.end()
                try await page.until(
                    "document.querySelector('#live').textContent.includes('does not answer')")
                try await page.select(1)
                #expect(try await page.state["view"] == ["a": 1])
            }
        }

        @Test func `an empty log is shown, and its first entry arrives`() async throws {
            let folder = try Folder()
            let log = folder.path("empty.log")
            let writer = try ShellProcess(log)
            try writer.perform(#"{"do":"status"}"#)
            let inspector = try await Inspector.start(log)
            defer { inspector.end() }
            try await ReportBrowserTests.withPage(inspector.address) { page in
                try await page.until(
                    "document.querySelector('#explanation').textContent.includes('This log has no entries yet.')"
                )
                #expect(try await page.selected == 0)
                try writer.perform(Self.set("a", 1))
                try await page.until("document.documentElement.dataset.selected === '1'")
                #expect(try await page.state["view"] == ["a": 1])
            }
            writer.finish()
        }
    }
}
