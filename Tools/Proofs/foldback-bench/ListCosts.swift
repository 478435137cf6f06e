import FoldbackUI

/// Measures lists of 10,000 rows with strings as ids: building a list, and comparing two lists.
///
/// A list's items come from a state, so equal ids of two lists are usually the same strings in
/// memory. Where they are not, for example because the rows were read from a file twice, comparing
/// them costs more; the figures named "read again" show it.
struct ListCosts: Sendable {
    let bench: Workbench

    private static let rowCount = 10_000

    private typealias List = ListSnapshot<Int, FeedPost>

    func measurements() throws -> [Measurement] {
        let posts = (0..<Self.rowCount).map(FeedPost.init)
        let again = (0..<Self.rowCount).map(FeedPost.init)
        let shuffled = posts.shuffled(seed: 1)
        let old = try Self.list(posts)
        let others = try (
            equal: Self.list(posts), edited: Self.list(Self.edited(posts)),
            shuffled: Self.list(shuffled), again: Self.list(again),
            shuffledAgain: Self.list(again.shuffled(seed: 1))
        )
        let toShuffled = others.shuffled.difference(from: old)
        return try [
            figure("building", .atMost(5)) { try Self.list(posts).rowCount == Self.rowCount },
            figure("difference, ten edits", .atMost(5)) {
                others.edited.difference(from: old).insertions.count == 3
            },
            figure("difference, shuffled", .atMost(8)) {
                !others.shuffled.difference(from: old).moves.isEmpty
            },
            figure("difference, shuffled, read again", nil) {
                !others.shuffledAgain.difference(from: old).moves.isEmpty
            },
            figure("difference, equal", .atMost(0.5)) {
                others.equal.difference(from: old).isEmpty
            },
            figure("difference, equal, read again", nil) {
                others.again.difference(from: old).isEmpty
            },
            figure("difference, the same list", .atMost(0.5)) {
                old.difference(from: old).isEmpty
            },
            figure("applying the difference, shuffled", nil) {
                try toShuffled.applied(to: old).rowCount == Self.rowCount
            },
            figure("single steps of the difference, shuffled", nil) {
                toShuffled.steps.count == toShuffled.moves.count
            },
        ]
    }

    /// - Parameter work: returns false if its result is wrong.
    private func figure(
        _ what: String, _ target: Target?, _ work: () throws -> Bool
    ) rethrows -> Measurement {
        bench.note(what)
        let clock = ContinuousClock()
        var times: [Double] = []
        for round in 0..<(bench.isFull ? 101 : 31) {
            let start = clock.now
            let isRight = try work()
            // The first round has cold caches.
            if round > 0 { times.append((clock.now - start) / .milliseconds(1)) }
            precondition(isRight, "\(what): the list is wrong")
        }
        let figure = times.quartered(
            "list of \(Self.rowCount.grouped) rows, \(what)", unit: "ms")
        return target.map { figure.judged(by: $0) } ?? figure
    }

    // MARK: Lists

    private static func list(_ posts: [FeedPost]) throws -> List {
        try List { builder throws(ListError) in
            builder.section(0)
            builder.items(posts)
        }
    }

    /// Three changed rows, three insertions, two deletions and two moves.
    private static func edited(_ posts: [FeedPost]) -> [FeedPost] {
        var posts = posts
        for place in [10, 5_000, 9_990] { posts[place].likes += 1 }
        for place in [9_000, 4_000] { posts.remove(at: place) }
        for place in [7_000, 2_000] {
            let post = posts.remove(at: place)
            posts.insert(post, at: place - 1_000)
        }
        for (number, place) in [100, 3_000, 8_000].enumerated() {
            posts.insert(FeedPost(rowCount + number), at: place)
        }
        return posts
    }
}
