import Foldback
import FoldbackExamples

/// The whole state that the story expects at a moment: the view, the overlay and the rejections.
struct Expectation {
    private(set) var view = Feed()
    private var overlay: [IntentNumber: Mark] = [:]
    private var rejections: [IntentNumber: Rejection] = [:]

    /// Moves on to a moment: the rows that it names change, and all other rows stay the same.
    mutating func expect(_ moment: Moment) {
        for (id, post) in moment.posts { view.posts[id] = post }
        for (name, followers) in moment.followers { view.followers[name] = followers }
        for (number, rejection) in moment.rejections { rejections[number] = rejection }
        overlay = moment.overlay
    }

    /// Compares the whole state of the device with the expectation.
    ///
    /// Whatever is pending, confirmed state is the authority's fold up to the same position.
    ///
    /// - Throws: ``DemoFailure`` with all differences.
    func check(_ client: FeedClient) throws {
        let snapshot = client.store.snapshot
        let authorityFeed = try client.server.feed(for: "mia", through: snapshot.through)
        let marks = snapshot.overlay.map { ($0.number, Mark($0, in: snapshot)) }
        let differences =
            differences("in the view", snapshot.view, view)
            + differences("in confirmed state", snapshot.confirmed, authorityFeed)
            + differences("overlay: intent", Dictionary(uniqueKeysWithValues: marks), overlay)
            + differences("rejections: intent", try client.rejections(), rejections)
            + client.store.faults.map { "fault: \($0)" }
        guard differences.isEmpty else {
            throw DemoFailure(description: differences.joined(separator: "; "))
        }
    }

    private func differences(_ place: String, _ found: Feed, _ expected: Feed) -> [String] {
        let rows =
            differences("\(place): post", found.posts, expected.posts)
            + differences("\(place): followers of", found.followers, expected.followers)
        return rows.isEmpty && found != expected ? ["\(place): \(found), not \(expected)"] : rows
    }

    private func differences<Key: Hashable, Value: Equatable>(
        _ subject: String, _ found: [Key: Value], _ expected: [Key: Value]
    ) -> [String] {
        Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.map {
            func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "absent" }
            return "\(subject) \($0) is \(text(found[$0])), and must be \(text(expected[$0]))"
        }.sorted()
    }
}
