import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// Bounds of time and memory. The build is a debug build, and other tests run at the same time. So
    /// the logs are shorter than the promised lengths, the bounds of time are above the promised
    /// times, and the bound of a selection is for the fastest tenth: the others show how busy the
    /// machine is. `report-bench` prints the figures of a release build, with logs of the promised
    /// lengths.
    @Suite struct FigureTests {
        private static let (loadSlack, selectionSlack) = (6.0, 3.0)

        private static func check(
            _ figures: LogPageFigures, loadMax: Double, selectionMax: Double, _ what: String
        ) {
            let fast = figures.selectionMilliseconds(percentile: 10)
            let selection = figures.selectionMilliseconds(percentile: 95)
            print(
                """
                page: \(what): first paint \(Int(figures.firstPaintMilliseconds)) ms, entry shown \
                \(Int(figures.loadMilliseconds)) ms, selection p10 \(Int(fast)) ms, p95 \
                \(Int(selection)) ms, heap \
                \(Int(figures.heapBytes.early / 1_000)) kB, then \
                \(Int(figures.heapBytes.late / 1_000)) kB
                """)
            #expect(figures.loadMilliseconds < loadMax * loadSlack)
            #expect(fast < selectionMax * selectionSlack)
            #expect(figures.heapGrowth <= 1.5)
        }

        @Test func `a page of many entries is small and fast, and its heap is bounded`()
            async throws
        {
            let folder = try Folder()
            let file = folder.path("long.ndjson")
            try LongHistory.write(entries: 2_000, to: URL(filePath: file))
            let address = try await Report.make(
                of: file, "--projection", "Foldback.Documents", in: folder)
            let page = try #require(URL(string: address))
            let bytes = try Data(contentsOf: page).count
            print("page: 2,000 entries: \(bytes) bytes")
            #expect(bytes < 2_000_000)
            try await Self.measure(address, selections: 300) { figures in
                Self.check(figures, loadMax: 1_000, selectionMax: 50, "2,000 entries")
            }
        }

        @Test func `the inspector is fast on a long log, and the page's heap is bounded`()
            async throws
        {
            let folder = try Folder()
            let file = folder.path("long.ndjson")
            try LongHistory.write(entries: 3_000, to: URL(filePath: file))
            let log = folder.path("long.log")
            try await runTool("foldback", "import", file, log)
            let inspector = try await Inspector.start(log)
            defer { inspector.end() }
            try await Self.measure(inspector.address, selections: 100) { figures in
                Self.check(figures, loadMax: 1_000, selectionMax: 300, "3,000 entries, inspector")
            }
        }

        /// Measures a page in a window of its own.
        private static func measure(
            _ address: String, selections: Int, _ body: (LogPageFigures) async throws -> Void
        ) async throws {
            try await ReportBrowserTests.withPage(address, isReady: false) { page in
                let figures = try await LogPageFigures.measure(
                    address, selections: selections, in: page.browser)
                try await body(figures)
                let rows = try await page.number(
                    "document.querySelectorAll('#list [role=option]').length")
                #expect(rows < 300)
                #expect(try await page.bool("!document.querySelector('#window-row').hidden"))
            }
        }
    }
}
