import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// Long lists.
    @Suite struct ArchiveTests {
        @Test func `B14: a window over 10,000 rows moves both ways, and to the end`() async throws {
            try await BrowserTests.withPage(
                query: "&scene=archive&auto=off", checksRules: false
            ) { page in
                try await page.loaded()
                try await page.check()
                try await page.browser.run(
                    """
                    window.busyCount = 0;
                    const feed = document.querySelector("#feed");
                    new MutationObserver(() => busyCount += feed.ariaBusy === "true" ? 1 : 0)
                        .observe(feed, { attributeFilter: ["aria-busy"] });
                    """)
                let first = try #require(try await page.rows("post").first)
                var pressed = 0
                for edge in ["end", "start"] {
                    for _ in 0..<12 where try await page.hasMore(at: edge) {
                        let before = try await page.outerRow(at: edge)
                        pressed += 1
                        try await page.click("#extend-\(edge)")
                        try await page.until(edge, isNot: before)
                    }
                    #expect(try await page.rows("post").contains(first) == (edge == "start"))
                }
                #expect(pressed > 12)
                #expect(try await page.number("window.busyCount") >= Int64(pressed))
                try await page.expectWindow()

                try await page.goNearEnd()
                #expect(try await page.outerRow(at: "end") == "archive.00050")
                try await page.click("#extend-end")
                try await page.until("end", isNot: "archive.00050")
                let last = try await page.value(
                    """
                    (row => ({ id: row.dataset.id, place: row.ariaPosInSet, of: row.ariaSetSize }))(
                        document.querySelector("#feed").lastElementChild)
                    """)
                #expect(last == ["id": "archive.00000", "place": "10000", "of": "10000"])
                #expect(try await !page.hasMore(at: "end"))
                #expect(try await page.hasMore(at: "start"))
                try await page.expectWindow()
            }
        }

        @Test func `B14: near an edge of the screen, rows come by themselves`() async throws {
            try await BrowserTests.withPage(query: "&scene=archive", checksRules: false) { page in
                try await page.loaded()
                let first = try await page.outerRow(at: "start")
                // Until the first rows are gone.
                while try await page.outerRow(at: "start") == first {
                    let before = try await page.outerRow(at: "end")
                    try await page.browser.run("scrollTo(0, document.body.scrollHeight)")
                    try await page.until("end", isNot: before)
                }
                let before = try await page.outerRow(at: "start")
                try await page.browser.run("scrollTo(0, 0)")
                try await page.until("start", isNot: before)
                try await page.expectWindow()
            }
        }
    }
}

extension FeedPage {
    fileprivate func hasMore(at edge: String) async throws -> Bool {
        try await bool("!document.querySelector('#extend-\(edge)').hidden")
    }

    fileprivate func outerRow(at edge: String) async throws -> String {
        try await string("\(Self.outerRow(edge)).dataset.id")
    }

    private static func outerRow(_ edge: String) -> String {
        "document.querySelector('#feed').\(edge == "end" ? "last" : "first")ElementChild"
    }

    /// Returns when another row is the first or the last, and nothing is loaded.
    fileprivate func until(_ edge: String, isNot row: String) async throws {
        try await until(
            """
            document.querySelector("#feed").ariaBusy === "false"
                && \(Self.outerRow(edge)).dataset.id !== "\(row)"
            """)
    }

    /// Loads all pages at the end except the last, while no page shows them.
    fileprivate func goNearEnd() async throws {
        try await browser.open(server.page(of: replica, "&scene=waits"))
        var rest: Int64 = .max
        while rest > 50 {
            rest = try #require(try await browser.wait(Self.extensions).integerValue)
        }
        try await browser.open(server.page(of: replica, query))
        try await settle()
    }

    /// Extends the window some times, until one page is left. Returns the number of rows that are
    /// left.
    private static let extensions = """
        const json = (path, request) => fetch(path, request).then(answer => answer.json());
        const state = () => json("/r/mia/state?scene=archive").then(
            content => content.feed.busy ? state() : content);
        const extend = count => state().then(({ feed, rows }) => {
            const rest = feed.total - feed.before - rows.length;
            return rest <= 50 || count === 0 ? rest : json("/r/mia/do", {
                method: "POST", headers: { "Content-Type": "application/json" },
                body: JSON.stringify({ do: "extend", edge: "end" }),
            }).then(() => extend(count - 1));
        });
        extend(50).then(done);
        """

    /// Requires that the window has never been too large, that no id was there twice, and that the
    /// page shows the server's rows.
    fileprivate func expectWindow(at place: SourceLocation = #_sourceLocation) async throws {
        #expect(try await number("Math.max(...window.rowCounts)") <= 500, sourceLocation: place)
        #expect(try await strings("window.repeatedIDs") == [], sourceLocation: place)
        let state = try await server.state(of: replica, "?scene=archive")
        let wanted = state["rows"]?.arrayValue?.compactMap { $0["id"]?.stringValue }
        #expect(try await rows("post") == wanted, sourceLocation: place)
    }
}
