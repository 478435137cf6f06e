import BrowserDriver
import Foldback
import FoldbackTesting
import Foundation
import Testing

extension BrowserTests {
    /// Long histories.
    @Suite struct EquivalenceTests {
        /// 400, or 200 if `FOLDBACK_TEST_EFFORT` is not `full`.
        private static let actionsPerServer =
            ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full" ? 400 : 200

        /// Property: the page shows the server's state at each revision, during random actions. Up to
        /// four of them are sent at once.
        @Test func `B14: the page equals the server's state at each revision`() async throws {
            var random = SplitMix64.printed(for: "B14")
            var comparison = Comparison()
            // With more rows, all of this takes longer, so there are several servers.
            let serverCount = 5
            for _ in 0..<serverCount {
                try await BrowserTests.withPage(
                    ["--seed-posts", "5"], ignoring: Self.noise, checksRules: false
                ) { page in
                    try await page.loaded()
                    // Ben's phone knows the posts.
                    try await page.server.perform(["do": "load"], as: "ben")
                    try await page.server.hold()
                    try await page.settle()
                    try await comparison.run(Self.actionsPerServer, in: page, &random)
                }
            }
            print(
                """
                B14: the page was compared at \(comparison.pageCount) revisions, and the messages at \
                \(comparison.stateCount) revisions; \(comparison.refusedCount) actions were refused; \
                performed: \(comparison.performed.sorted { $0.key < $1.key })
                """)
            let actionCount = serverCount * Self.actionsPerServer
            #expect(comparison.performedCount == actionCount)
            #expect(Set(comparison.performed.keys) == Comparison.kinds)
            #expect(comparison.pageCount >= comparison.stateCount)
            #expect(comparison.stateCount >= actionCount / 5)
            #expect(comparison.refusedCount < actionCount / 4)
        }

        /// Refused actions on what was deleted at the same moment, and killed servers.
        private static let noise = ["status of 409", "net::ERR_"]
    }
}
