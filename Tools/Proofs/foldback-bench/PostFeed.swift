import Foldback
import FoldbackUI
import HashTreeCollections

/// A row of a list. Its strings are too long to be stored within the value.
struct FeedPost: Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    var likes: Int

    init(_ number: Int) {
        let digits = String(number + 1_000_000)
        id = "a post of the feed \(digits)"
        text = "the text of the post number \(digits), which is one line long"
        likes = number % 100
    }
}

extension Array {
    /// The elements in a pseudorandom order, which is the same for the same seed.
    func shuffled(seed: UInt64) -> [Element] {
        var shuffled = self
        var random = seed
        for place in shuffled.indices.dropFirst().reversed() {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            shuffled.swapAt(place, Int((random >> 33) % UInt64(place + 1)))
        }
        return shuffled
    }
}

/// Posts in their order: the state of a list.
struct PostFeed: Projection, Itemized {
    enum Event: Codable, Sendable {
        case filled(count: Int)
        case liked(Int)
        case shuffled(seed: UInt64)
        /// Changes nothing that the list shows.
        case visited
    }

    private var byNumber = TreeDictionary<Int, FeedPost>()
    private var order: [Int] = []
    private(set) var visitCount = 0

    var posts: some Sequence<FeedPost> { order.lazy.compactMap { byNumber[$0] } }

    mutating func apply(_ event: Event, _ context: EventContext) {
        switch event {
        case .filled(let count):
            order = Array(0..<count)
            for number in order { byNumber[number] = FeedPost(number) }
        case .liked(let number): byNumber[number]?.likes += 1
        case .shuffled(let seed): order = order.shuffled(seed: seed)
        case .visited: visitCount += 1
        }
    }

    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] {
        switch event {
        case .filled, .shuffled, .visited: []
        case .liked(let number): [ItemReference(FeedPost(number).id)]
        }
    }
}
