import BrowserDriver
import Foldback
import Foundation
import Testing

/// The report page and the inspector in a real Chromium, with logs and tools of real processes.
///
/// The tests share one browser. A log and its inspector are made once, because they are only read.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReportBrowserTests {
    /// Ends with the test process.
    static let browser = Task { try await WebDriver.start(recordsRequests: true) }

    /// Runs a test on a page in a window of its own, and then checks what no page may do.
    ///
    /// - Parameters:
    ///   - fragment: what a link carries, such as `entry=3`.
    ///   - noise: what lines of the console may say.
    static func withPage(
        _ address: String, fragment: String = "", on display: LogPage.Display = .init(),
        isReady: Bool = true, ignoring noise: [String] = [],
        at place: SourceLocation = #_sourceLocation, _ test: (LogPage) async throws -> Void
    ) async throws {
        let browser = try await browser.value
        let windows = try await browser.windows
        // Lines of an earlier test that failed.
        _ = try await browser.console()
        do {
            let page = try await LogPage.open(
                browser, address, fragment: fragment, on: display, isReady: isReady)
            try await test(page)
            let misdeeds = try await page.misdeeds(ignoring: noise)
            #expect(misdeeds == [], sourceLocation: place)
        } catch {
            try? await browser.close(allBut: windows)
            throw error
        }
        try await browser.close(allBut: windows)
    }

    /// Runs a test on a shown log.
    static func withPage(
        _ shown: Shown, fragment: String = "", on display: LogPage.Display = .init(),
        at place: SourceLocation = #_sourceLocation, _ test: (LogPage) async throws -> Void
    ) async throws {
        try await withPage(
            try await shown.address, fragment: fragment, on: display, at: place, test)
    }
}

extension LogPage {
    /// Returns what the page did that no page may do, in words.
    func misdeeds(ignoring noise: [String] = []) async throws -> [String] {
        let seen = try await strings(
            """
            [...window.seen.ran.map(one => "ran: " + one),
                ...window.seen.violations.map(one => "policy: " + one),
                ...window.seen.errors.map(one => "error: " + one)]
            """)
        let console = try await browser.console().filter { line in
            line.level == "SEVERE" && !noise.contains { line.text.contains($0) }
        }
        return seen + console.map { "console: \($0.text)" }
    }
}
