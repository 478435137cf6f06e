import BrowserDriver
import Testing

/// The feed of `Tools/Examples/feed-web` in a real Chromium.
///
/// The tests share one browser, and each has a server of its own. The server's clock stands still
/// until a test moves it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BrowserTests {
    /// Ends with the test process.
    private static let browser = Task { try await WebDriver.start() }

    /// Runs a test on the page of the first replica.
    ///
    /// - Parameters:
    ///   - options: of feed-web.
    ///   - query: of the page, such as `&scene=archive`.
    ///   - display: the settings of the system before the page is opened.
    ///   - noise: what lines of the console about the network may say.
    ///   - checksRules: whether the check of each page at the end has the rules of axe-core. They
    ///     take 10 s over 500 rows.
    ///   - before: what to do before the page is opened.
    static func withPage(
        _ options: [String] = [], query: String = "", on display: FeedPage.Display = .init(),
        ignoring noise: [String] = [], checksRules: Bool = true,
        before: (FeedWeb) async throws -> Void = { _ in },
        _ test: (FeedPage) async throws -> Void
    ) async throws {
        let browser = try await browser.value
        let server = try await FeedWeb.start(options)
        defer { server.end() }
        let windows = try await browser.windows
        // Lines of an earlier test that failed.
        _ = try await browser.console()
        do {
            try await before(server)
            var page = try await FeedPage.open(
                browser, server, as: "mia", query, on: display, ignoring: noise)
            try await test(page)
            for window in try await browser.windows where !windows.contains(window) {
                page.window = window
                try await page.check(rules: checksRules)
            }
        } catch {
            try? await browser.close(allBut: windows)
            throw error
        }
        try await browser.close(allBut: windows)
        server.end()
        #expect(server.complaints == [])
    }

    /// Runs a test on the page of the first replica when its feed shows posts.
    ///
    /// - Parameters:
    ///   - isHolding: whether the authority answers no request from now on.
    ///   - noise: what lines of the console about the network may say.
    ///   - place: which post the test gets, from the top.
    static func withFeed(
        isHolding: Bool = false, ignoring noise: [String] = [], at place: Int = 0,
        _ test: (FeedPage, String) async throws -> Void
    ) async throws {
        try await withPage(ignoring: noise) { page in
            try await page.loaded()
            if isHolding { try await page.server.hold() }
            try await page.settle()
            let posts = try await page.rows("post")
            try await test(page, try #require(posts.dropFirst(place).first))
        }
    }
}
