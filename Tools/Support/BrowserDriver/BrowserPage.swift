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
    /// Closes windows that were opened later.
    package func close(allBut kept: [Window]) async throws {
        for window in try await windows where !kept.contains(window) {
            try await show(window)
            try await closeWindow()
        }
        if let first = kept.first { try await show(first) }
    }
}
