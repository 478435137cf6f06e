import Foldback
import FoldbackHistory
import Foundation
import Testing

/// The end state of a log, folded again from its entries.
@Suite struct FeedLogTests {
    private static func file(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test func `the log folds to its recorded end state`() throws {
        let history = try RecordedHistory(ndjson: Self.file("feed.ndjson"))
        let end = try history.read(by: Documents.codec).snapshot(of: Documents.self)
        let expected = try JSON(parsing: Self.file("feed.expected.json"))
        #expect(JSON(describing: end.view) == expected["view"])
        #expect(JSON(describing: end.confirmed) == expected["confirmed"])
        #expect(JSON(describing: end.pending) == expected["pending"])
        #expect(JSON(describing: end.conflicted) == expected["conflicted"])
    }
}
