import Foldback

/// A page in a window of the browser.
package protocol BrowserPage: Sendable {
    var browser: WebDriver { get }
    var window: WebDriver.Window { get }
}

extension BrowserPage {
    /// Returns the value of an expression in JavaScript.
    package func value(_ expression: String) async throws -> JSON {
        try await browser.show(window)
        return try await browser.run("return \(expression)")
    }

    package func string(_ expression: String) async throws -> String {
        let value = try await value(expression)
        return value.stringValue ?? "\(value)"
    }

    package func strings(_ expression: String) async throws -> [String] {
        try await value(expression).arrayValue?.map { $0.stringValue ?? "\($0)" } ?? []
    }
}

extension WebDriver {
    /// Returns when a condition of the page is true. It is asked after each change of the DOM, and
    /// before each frame.
    ///
    /// - Parameter condition: an expression in JavaScript. If it throws, it is not true yet.
    /// - Throws: as ``wait(_:_:)``.
    package func wait(until condition: String) async throws {
        try await wait(
            """
            const isTrue = () => { try { return \(condition); } catch { return false; } };
            let isDone = false;
            const look = () => {
                if (isDone || !isTrue()) return isDone;
                isDone = true;
                observer.disconnect();
                done();
                return true;
            };
            const observer = new MutationObserver(look);
            observer.observe(
                document, { subtree: true, childList: true, attributes: true, characterData: true });
            const frame = () => { if (!look()) requestAnimationFrame(frame); };
            frame();
            """)
    }

    /// Closes windows that were opened later.
    package func close(allBut kept: [Window]) async throws {
        for window in try await windows where !kept.contains(window) {
            try await show(window)
            try await closeWindow()
        }
        if let first = kept.first { try await show(first) }
    }
}
