import FoldbackUI
import Testing

@testable import feed_web

/// These tests ask whether a page that applies each message has what the server shows. A missed or
/// repeated step would leave the page with other rows until it is loaded again.
@MainActor @Suite struct MessageTests {
    @Test(arguments: [
        ("", "abc"), ("abc", ""), ("abc", "cab"), ("abcdef", "fxbad"), ("abc", "aBc"),
        ("abcdefgh", "hgfedcba"),
    ])
    func `the steps lead from the old rows to the new rows`(
        _ old: String, _ new: String
    ) throws {
        let (first, second) = (try Self.list(old), try Self.list(new))
        var list = WireList()
        list.show(first, Self.writer)
        _ = list.takeEdits()
        var page = list.rows
        list.show(second, Self.writer)
        for step in list.takeEdits().steps {
            if let place = step.insert { page.insert(try #require(step.row), at: place) }
            if let place = step.delete { page.remove(at: place) }
            if let place = step.move {
                page.insert(page.remove(at: place), at: try #require(step.to))
            }
            if let place = step.change { page[place] = try #require(step.row) }
        }
        #expect(page == list.rows)
        #expect(page == second.sections.flatMap(\.rows).map(Self.writer.row))
    }

    @Test(arguments: [nil, "b", "b-7", "other-0", "b-x"])
    func `a page with an unknown revision gets the whole content`(_ revision: String?) throws {
        let hub = Hub(boot: "b", .sample())
        let rows = try Self.list("a").sections.flatMap(\.rows).map(Self.writer.row)
        hub.show(.sample(signedIn: false), rows, WireEdits(), [])
        let text = String(
            decoding: hub.events(after: hub.number(of: revision)).bytes, as: UTF8.self)
        #expect(text.contains("\"reset\":true") && text.contains("\"id\":\"a\""))
    }

    @Test func `a page that is far back gets the whole content`() {
        let hub = Hub(boot: "b", .sample())
        for number in 0..<300 { hub.show(.sample(signedIn: number % 2 == 1), [], WireEdits(), []) }
        let text = String(decoding: hub.events(after: 10).bytes, as: UTF8.self)
        #expect(text.contains("\"reset\":true"))
    }

    @Test func `equal content is not a message`() {
        let hub = Hub(boot: "b", .sample())
        hub.show(.sample(), [], WireEdits(), [])
        #expect(hub.revision == "b-0")
    }

    private static let writer = RowWriter(
        user: "mia", pause: nil, sending: nil, unsent: [:]
    ) { _ in "like" }

    /// A list with a row for each letter. The case of a letter is its content.
    private static func list(_ letters: String) throws(ListError) -> FeedSnapshot {
        try FeedSnapshot { list in
            list.section(FeedList.section)
            list.items(
                letters.map { letter in
                    let id = letter.lowercased()
                    return FeedItem(
                        id: id, kind: .post, post: id, by: "mia", text: String(letter))
                })
        }
    }
}
