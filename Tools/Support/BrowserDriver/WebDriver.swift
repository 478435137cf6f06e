import Foldback
import Foundation
import Processes

/// A headless Chromium, driven through chromedriver (W3C WebDriver, 5 June 2018).
///
/// Chromium and chromedriver end with this object. Commands go to one window at a time, and
/// ``show(_:)`` changes it.
package final class WebDriver: Sendable {
    /// A tab or a window of the browser.
    package struct Window: Hashable, Sendable {
        package let handle: String
    }

    /// An element of the page that the window shows.
    package struct Element: Hashable, Sendable {
        package let id: String
    }

    /// A line of the page's console.
    package struct LogLine: Hashable, Sendable, CustomStringConvertible {
        package let level: String
        package let source: String
        package let text: String

        package var description: String { "\(level) (\(source)): \(text)" }
    }

    private let process: LeashedProcess
    private let client: JSONClient
    private let session: String

    /// The time that a script may wait for the page. Only a failure takes so long.
    package static let scriptSecondsMax = 120

    /// Starts chromedriver on a free port, and a browser with one empty window.
    ///
    /// - Parameter recordsRequests: whether ``requests()`` works. It costs the browser some time.
    /// - Throws: ``LeashedProcessError`` if chromedriver cannot start, for example because
    ///   `apt-get install chromium chromium-driver` was not run.
    package static func start(recordsRequests: Bool = false) async throws -> WebDriver {
        let (process, port) = try await LeashedProcess.start({ _ in ["chromedriver", "--port=0"] })
        {
            $0.firstMatch(of: /started successfully on port (\d+)/)
                .flatMap { UInt16($0.1) }
        }
        return try await WebDriver(process, JSONClient(port: port), recordsRequests)
    }

    private init(
        _ process: LeashedProcess, _ client: JSONClient, _ recordsRequests: Bool
    ) async throws {
        self.process = process
        self.client = client
        var arguments: [JSON] = [
            "--headless=new", "--no-proxy-server", "--window-size=900,1000", "--lang=en",
            "--disable-gpu",
        ]
        // The sandbox of Chromium does not work as root.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        var logs: JSON.Object = ["browser": "ALL"]
        if recordsRequests { logs["performance"] = "ALL" }
        let capabilities: JSON = [
            "goog:chromeOptions": ["args": .array(arguments)],
            "goog:loggingPrefs": .object(logs),
            "timeouts": ["script": .integer(Int64(Self.scriptSecondsMax * 1_000))],
        ]
        let made = try await Self.value(
            of: client.send("POST", "/session", ["capabilities": ["alwaysMatch": capabilities]]),
            "session")
        guard let session = made["sessionId"]?.stringValue else {
            throw WebDriverError(command: "session", kind: "no session", message: "\(made)")
        }
        self.session = session
    }

    // MARK: Pages

    package func open(_ address: String) async throws {
        try await post("url", ["url": .string(address)])
    }

    package func find(_ css: String) async throws -> Element {
        let found = try await post("element", ["using": "css selector", "value": .string(css)])
        return Element(id: found.objectValue?.members.first?.value.stringValue ?? "")
    }

    /// Clicks like a person: the element is scrolled into the window, and must not be covered.
    package func click(_ css: String) async throws {
        try await post("element/\(find(css).id)/click", [:])
    }

    /// Types into an element.
    package func type(_ text: String, into css: String) async throws {
        try await post("element/\(find(css).id)/value", ["text": .string(text)])
    }

    /// Presses a key where the focus is.
    ///
    /// - Parameter modifiers: the keys that are held meanwhile.
    package func press(_ key: Key, with modifiers: [Key] = []) async throws {
        let keys = modifiers + [key]
        let actions =
            keys.map { Self.action("keyDown", $0) }
            + keys.reversed().map { Self.action("keyUp", $0) }
        let keyboard: JSON = ["type": "key", "id": "keyboard", "actions": .array(actions)]
        try await post("actions", ["actions": [keyboard]])
    }

    /// Presses the key of each character where the focus is, one after the other.
    ///
    /// - Parameter modifiers: the keys that are held meanwhile.
    package func press(_ characters: String, with modifiers: [Key] = []) async throws {
        let presses = characters.flatMap { character in
            ["keyDown", "keyUp"].map { type -> JSON in
                ["type": .string(type), "value": .string(String(character))]
            }
        }
        let actions =
            modifiers.map { Self.action("keyDown", $0) } + presses
            + modifiers.map { Self.action("keyUp", $0) }
        let keyboard: JSON = ["type": "key", "id": "keyboard", "actions": .array(actions)]
        try await post("actions", ["actions": [keyboard]])
    }

    private static func action(_ type: String, _ key: Key) -> JSON {
        ["type": .string(type), "value": .string(key.rawValue)]
    }

    /// A key without a character (W3C WebDriver).
    package enum Key: String {
        case tab = "\u{E004}"
        case shift = "\u{E008}"
        case control = "\u{E009}"
        case enter = "\u{E007}"
        case escape = "\u{E00C}"
        case space = " "
        case end = "\u{E010}"
        case home = "\u{E011}"
        case arrowLeft = "\u{E012}"
        case arrowUp = "\u{E013}"
        case arrowRight = "\u{E014}"
        case arrowDown = "\u{E015}"
    }

    // MARK: Scripts

    /// Runs the body of a function in the page, and returns its value.
    @discardableResult
    package func run(_ script: String, _ arguments: JSON...) async throws -> JSON {
        try await post("execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    /// Runs the body of a function in the page, and returns the value that it gives to `done`.
    ///
    /// - Throws: ``WebDriverError`` of kind `script timeout` after ``scriptSecondsMax``.
    @discardableResult
    package func wait(_ script: String, _ arguments: JSON...) async throws -> JSON {
        let body = "const done = arguments[arguments.length - 1];\n\(script)"
        return try await post(
            "execute/async", ["script": .string(body), "args": .array(arguments)])
    }

    /// Sends a command of the Chrome DevTools Protocol.
    @discardableResult
    package func devTools(_ command: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await post("goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    // MARK: Windows, pictures, console

    /// Opens an empty window. ``show(_:)`` goes to it.
    package func newWindow() async throws -> Window {
        Window(
            handle: try await post("window/new", ["type": "window"])["handle"]?.stringValue ?? "")
    }

    package func show(_ window: Window) async throws {
        try await post("window", ["handle": .string(window.handle)])
    }

    package var windows: [Window] {
        get async throws {
            try await command("GET", "window/handles").arrayValue?.compactMap(\.stringValue)
                .map(Window.init) ?? []
        }
    }

    /// Closes the present window. After that, go to another window.
    package func closeWindow() async throws { try await command("DELETE", "window") }

    /// Returns a PNG of the visible part of the page.
    package func screenshot() async throws -> Data {
        Data(base64Encoded: try await command("GET", "screenshot").stringValue ?? "") ?? Data()
    }

    /// Returns the lines of all consoles since the last call.
    package func console() async throws -> [LogLine] {
        try await post("se/log", ["type": "browser"]).arrayValue?.map { line in
            LogLine(
                level: line["level"]?.stringValue ?? "", source: line["source"]?.stringValue ?? "",
                text: line["message"]?.stringValue ?? "")
        } ?? []
    }

    /// Returns the addresses that all windows have asked for since the last call, in order.
    ///
    /// A request that the page's policy refuses is among them if it left the page.
    package func requests() async throws -> [String] {
        let lines = try await post("se/log", ["type": "performance"]).arrayValue ?? []
        return lines.compactMap { line in
            guard let text = line["message"]?.stringValue, let event = try? JSON(parsing: text)
            else { return nil }
            let message = event["message"]
            switch message?["method"]?.stringValue {
            case "Network.requestWillBeSent":
                return message?["params"]?["request"]?["url"]?.stringValue
            case "Network.webSocketCreated", "Network.webTransportCreated":
                return message?["params"]?["url"]?.stringValue
            default: return nil
            }
        }
    }

    // MARK: Commands

    @discardableResult
    private func post(_ path: String, _ body: JSON) async throws -> JSON {
        try await command("POST", path, body)
    }

    @discardableResult
    private func command(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON
    {
        try await Self.value(of: client.send(method, "/session/\(session)/\(path)", body), path)
    }

    private static func value(
        of answer: JSONClient.Answer, _ command: String
    ) throws(WebDriverError) -> JSON {
        let value = answer.body["value"] ?? .null
        guard answer.status == 200 else {
            throw WebDriverError(
                command: command, kind: value["error"]?.stringValue ?? "status \(answer.status)",
                message: value["message"]?.stringValue ?? "")
        }
        return value
    }
}

/// A command that chromedriver refused, in its own words.
package struct WebDriverError: Error, CustomStringConvertible {
    package let command: String
    /// The error code of the standard, such as `no such element`.
    package let kind: String
    package let message: String

    package var description: String { "\(command): \(kind): \(message)" }
}
