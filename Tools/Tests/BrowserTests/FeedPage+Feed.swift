import BrowserDriver
import Foldback
import Testing

/// What a test reads of the feed and of its announcements.
extension FeedPage {
    /// Returns when the feed shows posts, and loads nothing.
    func loaded() async throws {
        try await until(
            """
            document.querySelector("article[data-kind=post]")
                && document.querySelector("#feed").ariaBusy === "false"
            """)
    }

    /// The ids of the rows of a kind, from the top.
    func rows(_ kind: String) async throws -> [String] {
        try await strings(
            "[...document.querySelectorAll('article[data-kind=\(kind)]')].map(row => row.dataset.id)"
        )
    }

    /// Returns a row as an expression in JavaScript.
    func row(_ id: String) -> String {
        "document.querySelector(`[data-id=${CSS.escape(\(Self.quoted(id)))}]`)"
    }

    /// Returns the likes, the state and the marks of a row. Absent parts are left out.
    func shown(_ id: String) async throws -> ShownRow {
        try await decoded(Self.shown(row(id)))
    }

    func shown(_ ids: [String]) async throws -> [ShownRow] {
        var rows: [ShownRow] = []
        for id in ids { rows.append(try await shown(id)) }
        return rows
    }

    /// - Parameter row: an element as an expression in JavaScript.
    static func shown(_ row: String) -> String {
        """
        (row => row && {
            birth: row.dataset.birth, state: row.dataset.state,
            text: row.querySelector(".text")?.textContent ?? "",
            likes: Number(row.querySelector(".likes")?.textContent),
            liked: row.querySelector(".like")?.ariaPressed,
            comments: parseInt(row.querySelector(".comments")?.textContent || "0"),
            marks: [...row.querySelectorAll("[data-mark]")].map(mark => mark.dataset.state),
        })(\(row))
        """
    }

    /// Writes a comment as a person does, and returns its id when the page shows it.
    @discardableResult
    func comment(_ text: String, on post: String) async throws -> String {
        try await browser.show(window)
        try await browser.type(text, into: "[id='comment-text-\(post)']")
        try await click("[id='comment-\(post)']")
        return try await row(saying: text)
    }

    /// Returns when a row has a state.
    func until(_ id: String, is state: String) async throws {
        try await until("\(row(id)).dataset.state === \(Self.quoted(state))")
    }

    /// Returns the ids of the rows with a text.
    func rows(saying text: String) async throws -> [String] {
        try await strings("\(Self.rowsSaying(text)).map(row => row.dataset.id)")
    }

    /// Waits for a row with a text, and returns its id.
    func row(saying text: String) async throws -> String {
        try await until("\(Self.rowsSaying(text)).length > 0")
        return try #require(try await rows(saying: text).first)
    }

    static func rowsSaying(_ text: String) -> String {
        """
        [...document.querySelectorAll("article")].filter(
            row => row.querySelector(".text")?.textContent === \(quoted(text)))
        """
    }

    /// Returns the id of the element that has the focus, or of its row; else its tag.
    func focus() async throws -> String {
        try await string(
            "(node => node.id || node.dataset.id || node.tagName)(document.activeElement)")
    }

    private static func quoted(_ text: String) -> String { JSON.string(text).description }

    // MARK: Announcements

    /// A text that assistive technology was given to say.
    struct Announcement: Decodable, Hashable, Sendable, CustomStringConvertible {
        let region: String
        let text: String

        static func polite(_ text: String) -> Self { Self(region: "polite", text: text) }

        var description: String { "\(region): \(text)" }
    }

    /// Returns the announcements since the page was opened, or since the last call.
    func announcements() async throws -> [Announcement] {
        try await decoded("window.said.splice(0)")
    }
}

/// What a person sees of a row.
struct ShownRow: Decodable, Hashable, Sendable {
    /// The number of the node: a node that was made again has another number.
    let birth: String
    let state: String
    let text: String
    let likes: Int?
    let liked: String?
    let comments: Int
    /// The states of the marks.
    let marks: [String]
}
