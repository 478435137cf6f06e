import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// Everything works by keyboard and with assistive technology.
    @Suite struct AccessTests {
        private static let tabs = [
            "entry", "state", "overlay", "intent", "place", "compare", "what-if", "find", "export",
            "plots",
        ]

        private static let displays: [(name: String, display: LogPage.Display)] = [
            ("light", .init()), ("dark", .init(isDark: true)),
            ("narrow", .init(size: (390, 844))),
        ]

        @Test(arguments: [Shown.Way.file, .inspector])
        func `axe finds no violation in any view`(way: Shown.Way) async throws {
            let shown = Shown(source: .documents, way: way)
            // The code of both ways differs only in the tabs that ask questions.
            let (displays, tabs) =
                way == .file
                ? (Self.displays, Self.tabs)
                : ([Self.displays[0]], ["what-if", "find", "export", "plots"])
            for (name, display) in displays {
                try await ReportBrowserTests.withPage(
                    shown, fragment: "entry=7&pin=3&place=%2Fpost%2Flikes", on: display
                ) { page in
                    try await page.click("#filters-toggle")
                    try await page.click("#verify")
                    for tab in tabs {
                        try await page.openTab(tab)
                        let violations = try await page.axeViolations()
                        #expect(violations == [], "\(name), \(tab)")
                        if way == .file { try await page.picture("\(tab) \(name)") }
                    }
                    // A page never needs to scroll sideways.
                    #expect(
                        try await page.bool(
                            "document.documentElement.scrollWidth <= window.innerWidth"), "\(name)")
                }
            }
        }

        /// A check that finds nothing could be a check that does nothing.
        @Test func `axe finds faults of a page`() async throws {
            try await ReportBrowserTests.withPage(Shown.feed[0]) { page in
                try await page.browser.run(
                    """
                    document.querySelector("main").insertAdjacentHTML("beforeend",
                        "<button></button><p class='bad'>hard to read</p>");
                    document.querySelector(".bad").style.color = "rgb(200, 200, 200)";
                    """)
                let violations = try await page.axeViolations()
                #expect(violations.contains { $0.hasPrefix("button-name") })
                #expect(violations.contains { $0.hasPrefix("color-contrast") })
            }
        }

        @Test func `Tab reaches every control, and the focus is visible`() async throws {
            try await ReportBrowserTests.withPage(
                Shown.feed[2], fragment: "entry=16&tab=state"
            ) { page in
                try await page.click("#filters-toggle")
                try await page.browser.run(
                    """
                    document.activeElement.blur();
                    window.reached = new Set();
                    window.unseen = [];
                    document.addEventListener("focusin", event => {
                        window.reached.add(event.target);
                        const { target } = event;
                        // An item of a tree has its outline around its own line only.
                        const drawn = [target, target.parentElement, target.firstElementChild]
                            .filter(one => one !== null).map(one => getComputedStyle(one));
                        const isSeen = one => one.outlineStyle !== "none" && parseFloat(one.outlineWidth) > 0
                            || one.boxShadow !== "none";
                        const rect = event.target.getBoundingClientRect();
                        if (!drawn.some(isSeen) && !target.matches("g"))
                            window.unseen.push(target.id || target.outerHTML.slice(0, 80));
                        if (rect.width === 0) window.unseen.push("no size: " + event.target.outerHTML.slice(0, 80));
                    });
                    """)
                let controls = """
                    [...document.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex='0']")]
                        .filter(node => node.checkVisibility() && node.tabIndex >= 0 && !node.disabled)
                    """
                let count = try await page.number("\(controls).length")
                for _ in 0..<Int(count) + 10 { try await page.browser.press(.tab) }
                let missed = try await page.strings(
                    "\(controls).filter(node => !window.reached.has(node)).map(node => node.id || node.outerHTML.slice(0, 100))"
                )
                #expect(missed == [])
                let unseen = try await page.strings("window.unseen")
                #expect(unseen == [])
                // What Tab does not reach, arrow keys do: tabs, bars, rows and items of a tree.
                try await page.browser.run("document.querySelector('#tab-state').focus()")
                try await page.browser.press(.arrowRight)
                try await page.until("document.activeElement.id === 'tab-overlay'")
                try await page.browser.run("document.querySelector('#list').focus()")
                try await page.browser.press(.arrowDown)
                try await page.until("document.documentElement.dataset.selected === '17'")
                let active =
                    "document.getElementById(document.querySelector('#list').getAttribute('aria-activedescendant'))"
                #expect(try await page.string("\(active).dataset.sequence") == "17")
                try await page.browser.press(.home)
                try await page.until("document.documentElement.dataset.selected === '1'")
            }
        }

        @Test func `a page without animations stays still`() async throws {
            try await ReportBrowserTests.withPage(
                Shown.feed[2], fragment: "entry=16", on: .init(hasReducedMotion: true)
            ) { page in
                try await page.select(20)
                #expect(try await page.number("document.getAnimations().length") == 0)
                #expect(
                    try await page.string(
                        "getComputedStyle(document.documentElement).scrollBehavior")
                        == "auto")
            }
        }
    }
}

extension LogPage {
    /// Returns the violations that axe-core finds in the page, in words.
    func axeViolations() async throws -> [String] {
        try await browser.show(window)
        return try await Axe.violations(in: browser, Self.pictures)
    }
}
