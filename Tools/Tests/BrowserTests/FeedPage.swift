import BrowserDriver
import Foldback
import Foundation
import Testing

/// A window of the browser that shows the page of a replica.
///
/// All methods first go to the window. Nothing waits for a time: the methods wait for a revision or
/// for a condition in the page, and fail after ``WebDriver/scriptSecondsMax``.
struct FeedPage: BrowserPage {
    let browser: WebDriver
    let server: FeedWeb
    var window: WebDriver.Window
    let replica: String
    /// More of the query, such as `&scene=archive`.
    var query = ""
    /// What lines of the console about the network may say.
    var noise: [String] = []

    /// Opens a page in a new window, and returns when it shows all that the server has.
    static func open(
        _ browser: WebDriver, _ server: FeedWeb, as replica: String, _ query: String = "",
        on display: Display = Display(), ignoring noise: [String] = []
    ) async throws -> FeedPage {
        let window = try await browser.newWindow()
        try await browser.show(window)
        // Only one window can have the focus of the system. Each page behaves as if it had it.
        try await browser.devTools("Emulation.setFocusEmulationEnabled", ["enabled": true])
        try await browser.devTools(
            "Page.addScriptToEvaluateOnNewDocument", ["source": .string(instruments)])
        try await setDisplay(display, of: browser)
        try await browser.open(server.page(of: replica, query))
        let page = FeedPage(
            browser: browser, server: server, window: window, replica: replica, query: query,
            noise: noise)
        try await page.settle()
        return page
    }

    // MARK: Waiting

    /// Returns when all requests of the page are answered, and it shows the server's present
    /// revision or a later revision.
    func settle() async throws {
        try await meet("(document.documentElement.dataset.requests ?? '0') === '0'")
        let state = try await server.state(
            of: replica, query.isEmpty ? "" : "?\(query.dropFirst())")
        let revision = try #require(state["revision"]?.stringValue)
        let parts = revision.split(separator: "-")
        try await meet(
            """
            (([boot, number]) => boot === "\(parts[0])" && Number(number) >= \(parts[1]))(
                (document.body?.dataset.revision ?? "").split("-"))
            """)
    }

    /// Returns when a condition of the page was true, and the page has settled since. The page is
    /// asked after each change of the DOM.
    ///
    /// - Parameter condition: an expression in JavaScript. If it throws, it is not true yet.
    func until(_ condition: String) async throws {
        try await meet(condition)
        try await settle()
    }

    private func meet(_ condition: String) async throws {
        try await browser.show(window)
        do {
            try await browser.wait(until: condition)
        } catch let error as WebDriverError where error.kind == "script timeout" {
            throw PageError(
                replica: replica, condition: condition,
                shown: try await string(
                    "document.querySelector('#phone').innerText.replaceAll(/\\n+/g, ' | ')"))
        }
    }

    /// Moves the server's clock, and returns when the page shows the effects.
    func advance(milliseconds: Int) async throws {
        try await server.advance(milliseconds: milliseconds)
        try await settle()
    }

    // MARK: Doing

    /// Scrolls to an element, and clicks it. A mark that is not drawn yet would move what comes after
    /// it, so it is drawn first.
    func click(_ css: String) async throws {
        try await browser.show(window)
        try await browser.run(
            """
            for (const animation of document.getAnimations())
                if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
            document.querySelector(arguments[0])?.scrollIntoView({ block: "center" });
            """, .string(css))
        try await browser.click(css)
    }

    /// Does something as if the page had sent it, and returns when the page shows it.
    @discardableResult
    func perform(_ action: JSON) async throws -> Int64? {
        let number = try await server.perform(action, as: replica)
        try await settle()
        return number
    }

    // MARK: Reading

    /// Returns the value of an expression in JavaScript. Properties that are not defined are left out.
    func decoded<Value: Decodable>(_ expression: String) async throws -> Value {
        let value = try await value(expression)
        return try JSONDecoder().decode(Value.self, from: Data(value.encoded))
    }

    func number(_ expression: String) async throws -> Int64 {
        let value = try await value(expression)
        return try #require(value.integerValue, "\(expression) is \(value)")
    }

    func bool(_ expression: String) async throws -> Bool {
        let value = try await value(expression)
        return try #require(value.boolValue as Bool?, "\(expression) is \(value)")
    }

    /// Stores a picture for people in `.build/browser/`, and returns it.
    ///
    /// Everything that moves stands still at its start, so two pictures differ only if the states
    /// differ.
    @discardableResult
    func picture(
        _ name: String, at place: SourceLocation = #_sourceLocation
    ) async throws -> Data {
        try await freeze()
        let picture = try await browser.screenshot()
        let again = try await browser.screenshot()
        #expect(picture == again, "two pictures of one state: \(name)", sourceLocation: place)
        try await unfreeze()
        try FileManager.default.createDirectory(
            at: Self.pictures, withIntermediateDirectories: true)
        try picture.write(to: Self.pictures.appending(path: "\(name).png"))
        return picture
    }

    /// Ends everything that moves only for a moment, such as a color that fades in, and stops
    /// everything else at its start. A cursor does not blink.
    func freeze() async throws {
        try await browser.show(window)
        try await browser.run(
            """
            for (const animation of document.getAnimations()) {
                if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
                else { animation.pause(); animation.currentTime = 0; }
            }
            document.documentElement.style.caretColor = "transparent";
            """)
    }

    /// Goes on after ``freeze()``.
    func unfreeze() async throws {
        try await browser.show(window)
        try await browser.run(
            """
            for (const animation of document.getAnimations()) animation.play();
            document.documentElement.removeAttribute("style");
            """)
    }

    /// `.build/browser/` of the repository.
    static let pictures = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }.appending(path: ".build/browser", directoryHint: .isDirectory)
}

/// A page that never met a condition.
struct PageError: Error, CustomStringConvertible {
    let replica: String
    let condition: String
    let shown: String

    var description: String { "\(replica)'s page never met \(condition). It shows: \(shown)" }
}
