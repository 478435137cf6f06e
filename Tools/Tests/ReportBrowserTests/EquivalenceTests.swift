import BrowserDriver
import Foldback
import FoldbackTesting
import Foundation
import Testing

extension ReportBrowserTests {
    /// Property: for any history, the state that a page shows after an entry is the state that `at`
    /// prints for it, in both ways, for documents in memory and as rows.
    @Suite struct EquivalenceTests {
        private static let isFull =
            ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full"
        private static let entries = isFull ? 60 : 40

        @Test func `a page shows the state of at after each entry of a random history`()
            async throws
        {
            var logs = RandomLogs(SplitMix64.printed(for: "states of random histories"))
            for kind in [LogKind.acknowledgement, .downlink] {
                let folder = try Folder()
                let log = folder.path("random.log")
                try await logs.make(at: URL(filePath: log), kind, entries: Self.entries)
                let count = try await runTool("foldback", "log", log, "--json").lines.count
                let projection =
                    kind == .downlink ? "Foldback.Documents" : "Foldback.StoredDocuments"
                let states = try await Self.states(of: log, count, projection)
                for way in [Shown.Way.file, .inspector] {
                    try await ReportBrowserTests.withPage(
                        log, way, in: folder, fragment: "entry=0&projection=\(projection)"
                    ) { page in
                        let shown = try await Self.shownStates(page, count)
                        #expect(shown.count == states.count)
                        for (sequence, (shown, state)) in zip(shown, states).enumerated()
                        where shown != state {
                            Issue.record(
                                "\(kind), \(way), entry \(sequence): \(shown) is not \(state)")
                            break
                        }
                        if way == .file { try await Self.printSizes(page, "\(kind)", projection) }
                    }
                }
            }
        }

        /// Returns the states that `at` prints, from before the first entry on.
        private static func states(
            of log: String, _ count: Int, _ projection: String
        ) async throws -> [JSON] {
            try await withThrowingTaskGroup(of: (Int, JSON?).self) { group in
                for sequence in 0...count {
                    group.addTask {
                        let end = try await runTool(
                            "foldback", "at", log, "\(sequence)", "--json", "--projection",
                            projection)
                        return (sequence, try end.lines.first)
                    }
                }
                var states = [JSON?](repeating: nil, count: count + 1)
                for try await (sequence, state) in group { states[sequence] = state }
                return try states.map { try #require($0) }
            }
        }

        /// Selects each entry, forward and then some in random order, and returns the states.
        private static func shownStates(_ page: LogPage, _ count: Int) async throws -> [JSON] {
            try await page.browser.show(page.window)
            let texts = try await page.browser.wait(
                """
                (async () => {
                    const texts = [];
                    for (let entry = 0; entry <= arguments[0]; entry += 1) {
                        await foldback.select(entry);
                        texts.push(foldback.state());
                    }
                    for (let entry = arguments[0]; entry >= 0; entry -= 7) {
                        await foldback.select(entry);
                        if (foldback.state() !== texts[entry]) texts[entry] = "\\"differs\\"";
                    }
                    done(texts);
                })();
                """.replacing("arguments[0]", with: "\(count)"))
            return try (texts.arrayValue ?? []).map {
                try JSON(parsing: $0.stringValue ?? "")
            }
        }

        /// Reports how large the patches of a page are beside the events.
        private static func printSizes(
            _ page: LogPage, _ kind: String, _ projection: String
        ) async throws {
            let sizes = try await page.numbers(
                """
                (source => [
                    source.block("\(projection)").frames.reduce((sum, frame) =>
                        sum + JSON.stringify(frame.patch).length, 0),
                    source.entries.reduce((sum, entry) => sum + (entry.events ?? [entry])
                        .reduce((sum, { event }) => sum + (JSON.stringify(event) ?? "").length, 0), 0),
                ])(foldback.source)
                """)
            print(
                "page: \(kind), \(projection): patches \(sizes[0]) bytes, events \(sizes[1]) bytes")
        }
    }
}
