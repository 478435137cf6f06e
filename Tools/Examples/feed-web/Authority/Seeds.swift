import Foldback
import FoldbackExamples
import FoldbackSync

/// The posts that a new authority has.
enum Seeds {
    private static let authors = ["ada", "cleo", "bo"]
    private static let texts = [
        "The harbor is quiet this morning.", "Which bread do you bake at home?",
        "We found a path through the reeds.", "The train to the coast runs again.",
        "Rain all day, and the roof holds.", "A heron stood at the pond for an hour.",
        "The library stays open until ten now.", "Our tomatoes are ripe at last.",
    ]
    private static let comments = ["Lovely.", "Tell me more.", "I was there too.", "Good to know."]
    private static let colors = ["#3b6ea5", "#8a9a5b", "#c46210", "#7b5ea7"]

    /// The oldest first: `count` posts, some with comments and likes.
    static func events(_ count: Int) throws -> [Submission<FeedEvent>] {
        var numbers = (1...).makeIterator()
        var events: [Submission<FeedEvent>] = []
        func add(_ author: String, _ action: FeedAction) throws -> String {
            let id = IntentID(
                replica: FeedAuthority.seedReplica,
                number: IntentNumber(UInt64(numbers.next() ?? 0)))
            events.append(try Submission(id, FeedEvent(by: author, did: action)))
            return EventContext(.intent(id)).id()
        }
        for index in 0..<count {
            let text = texts[index % texts.count]
            let author = authors[index % authors.count]
            let friend = authors[(index + 1) % authors.count]
            let post = try add(
                author,
                index % 4 == 2
                    ? .postedPhoto(text, color: color(index / 4)) : .posted(text))
            if index % 3 == 0 { _ = try add(friend, .liked(post: post)) }
            if index % 2 == 1 {
                _ = try add(
                    friend, .commented(post: post, text: comments[index / 2 % comments.count]))
            }
        }
        return events
    }

    static func color(_ number: Int) -> String { colors[number % colors.count] }

    /// The points of the chart: the likes of each half hour.
    static let chart: [Double] = {
        var likes = 50
        return (0..<48).map { step in
            likes += (step * 37) % 9 - 4
            return Double(likes)
        }
    }()

    /// A post of the archive.
    static func archived(_ number: Int) -> ArchivedPosts.Row {
        ArchivedPosts.Row(
            by: authors[number % authors.count], text: "\(number): \(texts[number % texts.count])")
    }
}
