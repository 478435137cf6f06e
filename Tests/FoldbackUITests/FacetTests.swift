import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from an app that put a whole object back when one of its changes was refused, and so lost
/// the other change.
@MainActor @Suite struct FacetTests {
    /// Returns the marks of a part, as `2 pending`.
    private func marks(_ status: ItemStatus) -> [String] {
        status.marks.map { "\($0.number) \($0.state.word)" }
    }

    @Test(arguments: [1, 2] as [IntentNumber])
    func `U30: of two facets, the rejection of one leaves the other's effect and mark`(
        rejected: IntentNumber
    ) async throws {
        let store = Store.inMemory(Cards.self, confirmedBy: .acknowledgement)
        let model = OptimisticModel(store, sources: Frames().sources)
        try await model.perform(.liked("a"))
        try await model.perform(.worded("a", "hello"))
        #expect(model.view.cards == ["a": Card(likes: 1, text: "hello")])
        #expect(marks(model.status(of: "a", facet: "likes")) == ["1 pending"])
        #expect(marks(model.status(of: "a", facet: "text")) == ["2 pending"])
        #expect(marks(model.status(of: "a")) == ["1 pending", "2 pending"])

        try await store.reject(rejected, message: "no")
        await model.adoptCommits()
        let isLike = rejected == 1
        #expect(
            model.view.cards == ["a": isLike ? Card(text: "hello") : Card(likes: 1)])
        #expect(
            marks(model.status(of: "a", facet: "likes")) == [isLike ? "1 rejected" : "1 pending"])
        #expect(
            marks(model.status(of: "a", facet: "text")) == [isLike ? "2 pending" : "2 rejected"])
        #expect(model.status(of: "a").worst == .rejected(Rejection(message: "no")))
        #expect(model.status(of: "a", facet: "reach") == .settled)
    }

    @Test(arguments: [1, 2] as [IntentNumber])
    func `U30: of two facets in rows, the rejection of one leaves the other's effect and mark`(
        rejected: IntentNumber
    ) async throws {
        let store = Store.inMemory(CardRows.self, confirmedBy: .acknowledgement)
        let model = RowsModel(store, sources: Frames().sources)
        let card = model.select { try $0.get("a", in: CardRows.cards) }
        try await model.perform(.liked("a"))
        try await model.perform(.worded("a", "hello"))
        #expect(card.value == .success(Card(likes: 1, text: "hello")))

        try await store.reject(rejected, message: "no")
        await model.adoptCommits()
        let isLike = rejected == 1
        #expect(card.value == .success(isLike ? Card(text: "hello") : Card(likes: 1)))
        #expect(
            marks(model.status(of: "a", facet: "likes")) == [isLike ? "1 rejected" : "1 pending"])
        #expect(
            marks(model.status(of: "a", facet: "text")) == [isLike ? "2 pending" : "2 rejected"])
        #expect(model.status(of: "a").marks.count == 2)
    }

    @Test(arguments: [1, 2] as [IntentNumber])
    func `U30: of two intents on one field, the rejection of one leaves the other`(
        rejected: IntentNumber
    ) async throws {
        let store = Store.inMemory(Cards.self, confirmedBy: .acknowledgement)
        let model = OptimisticModel(store, sources: Frames().sources)
        try await model.perform(.worded("a", "first"))
        try await model.perform(.worded("a", "second"))
        #expect(model.view.cards["a"]?.text == "second")

        try await store.reject(rejected, message: "no")
        await model.adoptCommits()
        let isFirst = rejected == 1
        #expect(model.view.cards["a"]?.text == (isFirst ? "second" : "first"))
        #expect(
            marks(model.status(of: "a", facet: "text"))
                == (isFirst ? ["1 rejected", "2 pending"] : ["1 pending", "2 rejected"]))
        #expect(model.status(of: "a", facet: "likes") == .settled)
        let left = try #require(model.status(of: "a").marks.first { $0.state == .pending })
        #expect(left.actions == [.withdraw])
    }

    @Test func `an observer of an item hears of the intents of each of its facets`() async throws {
        let store = Store.inMemory(Cards.self, confirmedBy: .acknowledgement)
        let model = OptimisticModel(store, sources: Frames().sources)
        let likes = Notifications { _ = model.status(of: "a", facet: "likes") }
        let others = Notifications { _ = model.status(of: "b", facet: "likes") }
        try await model.perform(.liked("a"))
        await until { likes.count == 1 }
        #expect(others.count == 0)
    }
}

/// A card with two parts that are shown separately.
private struct Card: Codable, Sendable, Equatable {
    var likes = 0
    var text = ""

    mutating func apply(_ event: CardEvent) {
        switch event {
        case .liked: likes += 1
        case .worded(_, let text): self.text = text
        }
    }
}

private enum CardEvent: Codable, Sendable {
    case liked(String)
    case worded(String, String)

    var card: String {
        switch self {
        case .liked(let card), .worded(let card, _): card
        }
    }

    var facet: Facet {
        switch self {
        case .liked: "likes"
        case .worded: "text"
        }
    }
}

private struct Cards: Projection, Itemized, Codable {
    private(set) var cards: [String: Card] = [:]

    mutating func apply(_ event: CardEvent, _ context: EventContext) throws {
        cards[event.card, default: Card()].apply(event)
    }

    static func items(of event: CardEvent, _ context: EventContext) -> [ItemReference<String>] {
        [ItemReference(event.card, facet: event.facet)]
    }
}

/// The same as rows.
private struct CardRows: StoredProjection, Itemized {
    static let cards = RowTable("cards", key: String.self, row: Card.self)
    static let schema = RowSchema(cards)

    static func apply(
        _ event: CardEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        var card = try rows.get(event.card, in: cards) ?? Card()
        card.apply(event)
        try rows.put(card, at: event.card, in: cards)
    }

    static func items(of event: CardEvent, _ context: EventContext) -> [ItemReference<String>] {
        [ItemReference(event.card, facet: event.facet)]
    }
}
