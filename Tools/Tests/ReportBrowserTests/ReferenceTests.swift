import BrowserDriver
import Foldback
import Foundation
import Processes
import Testing

extension ReportBrowserTests {
    /// The documentation as a person browses it.
    @Suite struct ReferenceTests {
        private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in
            url.deletingLastPathComponent()
        }
        private static let isBuilt = FileManager.default.fileExists(
            atPath: root.appending(path: ".build/docs/site/index.html").path)

        @Test(.enabled(if: isBuilt, "the documentation is not built: Tools/document builds it"))
        func `the reference opens in a browser, and its links lead from module to module`()
            async throws
        {
            let (server, address) = try await LeashedProcess.start({ _ in
                [Self.root.appending(path: "Tools/document").path, "--built"]
            }) { line in line.hasPrefix("http://") ? line : nil }
            defer { server.end() }
            let browser = try await ReportBrowserTests.browser.value
            let windows = try await browser.windows
            try await browser.show(try await browser.newWindow())
            try await browser.open(address)
            try await browser.untilShown("h1", "Foldback")
            try await browser.open(address + "foldback/store")
            try await browser.untilShown("h1", "Store")
            try await browser.open(address + "foldbacksync/syncanapp")
            try await browser.untilShown("h1", "Sync an app")
            try await browser.click("main a[href$='/documentation/foldback/eventformat']")
            try await browser.untilShown("h1", "EventFormat")
            let severe = try await browser.console().filter { $0.level == "SEVERE" }
            #expect(severe.map(\.text) == [])
            try await browser.close(allBut: windows)
        }
    }
}

extension WebDriver {
    /// Returns when the first element that a selector finds has a text.
    fileprivate func untilShown(_ css: String, _ text: String) async throws {
        let wanted = JSON.string(text)
        try await wait(
            until: "document.querySelector('\(css)')?.innerText.includes(\(wanted))")
    }
}
