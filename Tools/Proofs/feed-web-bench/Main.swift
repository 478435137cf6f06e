import BrowserDriver
import Foldback
import Foundation

/// Measures the time from a click to the change in the page, in Chromium and with durable logs.
///
/// `Tools/bench` starts this tool. It prints the milliseconds of each click as a JSON array.
@main
enum Main {
    /// The number of clicks that one script makes. A script must end within
    /// ``WebDriver/scriptSecondsMax`` seconds.
    private static let clicksPerScript = 50

    static func main() async throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 1_000
        let browser = try await WebDriver.start()
        let server = try await FeedWeb.start(clock: "system")
        defer { server.end() }
        try await browser.open(server.page(of: "mia"))
        try await browser.wait(loaded)
        // The first clicks compile the page's scripts.
        try await browser.wait(clicks, .integer(Int64(clicksPerScript)))
        var times: [JSON] = []
        while times.count < count {
            times +=
                try await browser.wait(
                    clicks, .integer(Int64(min(clicksPerScript, count - times.count)))
                ).arrayValue ?? []
        }
        print(JSON.array(times))
    }

    private static let loaded = """
        const isLoaded = () => document.querySelector("article[data-kind=post] button.like");
        new MutationObserver((_, observer) => {
            if (isLoaded()) { observer.disconnect(); done(); }
        }).observe(document.body, { subtree: true, childList: true, attributes: true });
        if (isLoaded()) done();
        """

    /// Likes a post or takes the like back, and waits until the post shows it; then the next one. The
    /// authority answers all the time, and its answers change the page, too.
    private static let clicks = """
        const buttons = [...document.querySelectorAll("article[data-kind=post] button.like")];
        const times = [];
        const click = number => {
            if (number === arguments[0]) { done(times); return; }
            const button = buttons[number % buttons.length];
            const before = button.ariaPressed;
            const start = performance.now();
            new MutationObserver((_, observer) => {
                if (button.ariaPressed === before) return;
                observer.disconnect();
                times.push(performance.now() - start);
                requestAnimationFrame(() => click(number + 1));
            }).observe(button, { attributes: true });
            button.click();
        };
        click(0);
        """
}
