import Foldback
import FoldbackExamples
import Foundation
import Processes
import Testing

/// Question: does a replay tool say when the app shows something else than the fold?
///
/// A tool showed a value that the app had lost, so "why does my screen not show it" got a wrong answer.
@Suite(.serialized) struct ReplayToolRowsTests {
    private let tool = executable("feed-replay")
    private let directory = DiskDirectory()

    private func at(_ sequence: Int, _ more: [String] = []) throws -> ProcessEnd {
        try run(
            [tool, "at", directory.log.path, "\(sequence)", "--projection", CountsTwice.name] + more
        )
    }

    @Test func `at says at the log's end how the stored rows differ`() async throws {
        let store = try await Store.open(
            at: directory.log, CountsTwice.self, confirmedBy: .acknowledgement,
            durability: .relaxed)
        let receipt = try await store.record(FeedEvent(by: "ann", did: .posted("hello")))
        try await store.acknowledge(receipt.number)
        await store.close()
        let end = try at(2)
        #expect(end.status == 0 && end.output.contains("ann"), "\(end)")
        #expect(
            end.output.contains("the app's stored rows differ from this: row"), "\(end)")
        let json = try at(2, ["--json"])
        #expect(json.output.contains(#""rowsDiffering":["the app's stored rows"#), "\(json)")
        // The app has no rows of the past.
        let past = try at(1)
        #expect(past.status == 0 && !past.output.contains("stored rows"), "\(past)")
    }

    /// The app's projection of the tool, with a mistake that was shipped without a new version.
    private enum CountsTwice: StoredProjection {
        static let name = "feed_replay.PostsByAuthor"
        static let counts = RowTable("posts by author", key: String.self, row: Int.self)
        static let schema = RowSchema(counts)

        static func apply(
            _ event: FeedEvent, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            try rows.update(event.by, in: counts, default: 0) { $0 += 2 }
        }
    }
}
