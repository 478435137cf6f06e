import BrowserDriver
import Foundation
import Testing

extension BrowserTests {
    /// A check that finds nothing could be a check that does nothing.
    @Suite struct CheckTests {
        private static let page = """
            <!DOCTYPE html><html lang="en"><title>Faults</title><body>
            <main><h1>Faults</h1><p id="a">one</p><p id="a">two</p><button></button>
            <details><summary></summary></details>
            <div id="feed"><p data-id="b">three</p></div>
            <p style="color: #999; background: #aaa">hard to read</p>
            <script>
                console.error("a fault");
                addEventListener("load", () => {
                    const feed = document.querySelector("#feed");
                    feed.append(feed.firstChild.cloneNode(true));
                    feed.lastChild.remove();
                });
            </script></main></body></html>
            """

        @Test func `the checks find faults of a page`() async throws {
            try await BrowserTests.withPage(checksRules: false) { page in
                let content = Data(Self.page.utf8).base64EncodedString()
                try await page.browser.open("data:text/html;base64,\(content)")
                let kinds = try await page.faults().map { $0.prefix { $0 != ":" } }
                #expect(
                    kinds == [
                        "twice", "twice before", "console", "a button without a name",
                        "a DisclosureTriangle without a name", "button-name",
                        "color-contrast", "summary-name",
                    ])
                try await page.browser.open(page.server.page(of: page.replica))
            }
        }
    }
}
