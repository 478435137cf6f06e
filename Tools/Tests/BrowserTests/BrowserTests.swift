import BrowserDriver
import Foundation
import Testing

/// The feed of `Tools/Sources/feed-web` in a real Chromium.
///
/// The tests share one browser, and each has a server of its own. The server's clock stands still
/// until a test moves it.
@Suite(.serialized) struct BrowserTests {
    /// Ends with the test process.
    private static let browser = Task { try await WebDriver.start() }

    /// Runs a test on the page of the first replica.
    ///
    /// - Parameters:
    ///   - options: of feed-web.
    ///   - query: of the page, such as `&scene=archive`.
    ///   - before: what to do before the page is opened.
    static func withPage(
        _ options: [String] = [], query: String = "",
        before: (FeedWeb) async throws -> Void = { _ in }, _ test: (FeedPage) async throws -> Void
    ) async throws {
        let browser = try await browser.value
        let server = try await FeedWeb.start(options)
        defer { server.end() }
        let windows = try await browser.windows
        // Lines of an earlier test that failed.
        _ = try await browser.console()
        do {
            try await before(server)
            try await test(FeedPage.open(browser, server, as: "mia", query))
        } catch {
            try? await browser.close(allBut: windows)
            throw error
        }
        try await browser.close(allBut: windows)
        #expect(server.complaints == [])
    }
}

extension WebDriver {
    /// Closes windows that were opened later.
    fileprivate func close(allBut kept: [Window]) async throws {
        for window in try await windows where !kept.contains(window) {
            try await show(window)
            try await closeWindow()
        }
        if let first = kept.first { try await show(first) }
    }
}
