import BrowserDriver
import Foldback
import Foundation
import Testing

/// A window of the browser that shows a log.
///
/// All methods first go to the window. Nothing waits for a time: the methods wait for a condition
/// in the page, and fail after ``WebDriver/scriptSecondsMax``.
struct LogPage: BrowserPage {
    /// The settings of the system.
    struct Display: Sendable {
        var isDark = false
        var hasReducedMotion = false
        var size: (width: Int64, height: Int64) = (1_300, 1_000)
    }

    let browser: WebDriver
    let window: WebDriver.Window
    /// The address without a fragment.
    let address: String

    /// Opens a page in a new window, and returns when it shows an entry.
    ///
    /// - Parameter fragment: what a link carries, such as `entry=3&pin=1`.
    static func open(
        _ browser: WebDriver, _ address: String, fragment: String = "",
        on display: Display = Display(), isReady: Bool = true
    ) async throws -> LogPage {
        let window = try await browser.newWindow()
        try await browser.show(window)
        // Only one window can have the focus of the system. Each page behaves as if it had it.
        try await browser.devTools("Emulation.setFocusEmulationEnabled", ["enabled": true])
        try await browser.devTools(
            "Page.addScriptToEvaluateOnNewDocument", ["source": .string(instruments)])
        let page = LogPage(browser: browser, window: window, address: address)
        try await page.set(display)
        try await browser.open(address + (fragment.isEmpty ? "" : "#\(fragment)"))
        if isReady { try await page.until("document.documentElement.dataset.ready === 'true'") }
        return page
    }

    func set(_ display: Display) async throws {
        try await browser.show(window)
        let features: [JSON] = [
            ["name": "prefers-color-scheme", "value": display.isDark ? "dark" : "light"],
            [
                "name": "prefers-reduced-motion",
                "value": display.hasReducedMotion ? "reduce" : "no-preference",
            ],
        ]
        try await browser.devTools("Emulation.setEmulatedMedia", ["features": .array(features)])
        try await browser.devTools(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(display.size.width), "height": .integer(display.size.height),
                "deviceScaleFactor": 1, "mobile": false,
            ])
    }

    /// Records what the page must not do, and the files that it offers.
    private static let instruments = """
        window.seen = { ran: [], violations: [], errors: [], files: [], announced: [] };
        for (const name of ["alert", "confirm", "prompt", "open", "print"])
            window[name] = (...words) => { window.seen.ran.push(name + " " + words.join(" ")); };
        document.addEventListener("securitypolicyviolation",
            event => window.seen.violations.push(event.violatedDirective + " " + event.blockedURI));
        window.addEventListener("error", event => window.seen.errors.push(String(event.message)));
        window.addEventListener("unhandledrejection",
            event => window.seen.errors.push(String(event.reason)));
        const makeURL = URL.createObjectURL;
        URL.createObjectURL = blob => { window.seen.files.push(blob); return makeURL(blob); };
        document.addEventListener("DOMContentLoaded", () => {
            const status = document.querySelector("[aria-live]");
            if (status) new MutationObserver(() => window.seen.announced.push(status.textContent))
                .observe(status, { childList: true, characterData: true, subtree: true });
        });
        """

    // MARK: Waiting

    /// Returns when a condition of the page is true.
    ///
    /// - Parameter condition: an expression in JavaScript. If it throws, it is not true yet.
    func until(_ condition: String, at place: SourceLocation = #_sourceLocation) async throws {
        try await browser.show(window)
        do {
            try await browser.wait(until: condition)
        } catch let error as WebDriverError where error.kind == "script timeout" {
            let shown = try await string(
                "document.body.innerText.replaceAll(/\\n+/g, ' | ').slice(0, 1500)")
            Issue.record("never: \(condition). The page shows: \(shown)", sourceLocation: place)
            throw error
        }
    }

    // MARK: Doing

    /// Selects an entry, and returns when the page shows it.
    func select(_ sequence: Int64) async throws {
        try await browser.show(window)
        let error = try await browser.wait(
            "foldback.select(arguments[0]).then(() => done(null), error => done(String(error)))",
            .integer(sequence))
        try #require(error == .null, "\(error)")
    }

    func click(_ css: String) async throws {
        try await browser.show(window)
        try await browser.run(
            "document.querySelector(arguments[0])?.scrollIntoView({ block: 'center' })",
            .string(css))
        try await browser.click(css)
    }

    /// Clicks the first element that a selector finds and that has a text.
    func click(_ css: String, saying text: String) async throws {
        try await browser.show(window)
        try await until(
            "[...document.querySelectorAll(\(css.quoted))].some(n => n.checkVisibility() && n.textContent.includes(\(text.quoted)))"
        )
        try await browser.run(
            """
            document.querySelector("[data-clicked]")?.removeAttribute("data-clicked");
            [...document.querySelectorAll(arguments[0])].find(node =>
                node.checkVisibility() && node.textContent.includes(arguments[1]))
                .setAttribute("data-clicked", "");
            """, .string(css), .string(text))
        try await click("[data-clicked]")
    }

    /// Replaces the text of a field as a person would.
    func enter(_ text: String, into css: String) async throws {
        try await browser.show(window)
        try await browser.run(
            """
            const field = document.querySelector(arguments[0]);
            field.focus();
            field.value = "";
            field.dispatchEvent(new Event("input", { bubbles: true }));
            """, .string(css))
        if !text.isEmpty { try await browser.type(text, into: css) }
    }

    /// Chooses an option of a list.
    func choose(_ value: String, in css: String) async throws {
        try await click("\(css) option[value=\(value.quoted)]")
    }

    func openTab(_ name: String) async throws {
        try await click("#tab-\(name)")
        try await until("!document.querySelector('#panel-\(name)').hidden")
    }

    /// Goes to another link of the same page, and returns when it shows an entry.
    func reload(fragment: String) async throws {
        try await browser.show(window)
        try await browser.open("about:blank")
        try await browser.open("\(address)#\(fragment)")
        try await until("document.documentElement.dataset.ready === 'true'")
    }

    // MARK: Reading

    func number(_ expression: String) async throws -> Double {
        let value = try await value(expression)
        return try #require(Double("\(value)"), "\(expression) is \(value)")
    }

    func bool(_ expression: String) async throws -> Bool {
        try await value(expression) == true
    }

    func numbers(_ expression: String) async throws -> [Int64] {
        try await value(expression).arrayValue?.compactMap(\.integerValue) ?? []
    }

    /// The visible text of an element.
    func text(_ css: String) async throws -> String {
        try await string("document.querySelector(\(css.quoted)).innerText")
    }

    /// The texts of all elements that a selector finds.
    func texts(_ css: String) async throws -> [String] {
        try await strings(
            "[...document.querySelectorAll(\(css.quoted))].map(node => node.textContent)")
    }

    var selected: Int64 {
        get async throws {
            Int64(try await string("document.documentElement.dataset.selected")) ?? -1
        }
    }

    /// The state that the page shows, as exact JSON.
    var state: JSON { get async throws { try JSON(parsing: try await string("foldback.state()")) } }

    /// The files that the page has offered, oldest first.
    func files() async throws -> [String] {
        try await browser.show(window)
        return try await browser.wait(
            "Promise.all(window.seen.files.map(file => file.text())).then(done)"
        ).arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// Stores a picture for people in `.build/browser/`.
    func picture(_ name: String) async throws {
        try await browser.show(window)
        let picture = try await browser.screenshot()
        try FileManager.default.createDirectory(
            at: Self.pictures, withIntermediateDirectories: true)
        try picture.write(to: Self.pictures.appending(path: "report-\(name).png"))
    }

    /// `.build/browser/` of the repository.
    static let pictures = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }.appending(path: ".build/browser", directoryHint: .isDirectory)
}

extension String {
    /// The text as a string of JavaScript and of CSS.
    var quoted: String { String(decoding: JSON.string(ExactString(self)).encoded, as: UTF8.self) }
}
