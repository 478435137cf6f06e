import Foldback
import Foundation
import Processes
import Testing

/// Born from the question whether an outbox finds a poisoned intent if its process never lives for
/// long (S3). The tests kill real processes at their writes, start them again, and kill them again.
///
/// Properties, for any kills:
/// - Each kill costs at most one failed request. So what an intent's attempts have shown survives.
/// - The poisoned intent is quarantined. Each other intent is settled exactly once, except that
///   under a policy that keeps order, later intents wait.
/// - The log is sound, and the poisoned intent can be released or abandoned.
@Suite(.serialized) struct QuarantineKillTests {
    private static let probe = executable("foldback-probe")
    private static let poison: IntentNumber = 6
    private static let intents = 1...8 as ClosedRange<UInt64>
    /// More than the writes of a process that nothing kills.
    private static let writesMax = 400

    private struct Story {
        let directory = DiskDirectory()
        let policy: String

        var book: URL { directory.url.appending(path: "book") }

        /// The lines of the authority's book.
        func lines(_ kind: String) throws -> [String] {
            try String(contentsOf: book, encoding: .utf8).split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix(kind + " ") }
        }

        var settled: [UInt64] {
            get throws { try lines("settled").compactMap { UInt64($0.dropFirst(8)) } }
        }

        /// Runs the probe, and returns whether it came to its end.
        func run(_ poison: IntentNumber, under strace: [String] = []) throws -> Bool {
            let result = try Processes.run(
                strace + [
                    QuarantineKillTests.probe, "poison", directory.log.path, book.path, policy,
                    "\(poison)",
                ])
            let isEnded = result.output.hasSuffix(" pending\n")
            #expect(isEnded || !strace.isEmpty, "\(result)")
            return isEnded
        }

        func open() async throws -> Store<Documents> {
            try await Store.open(
                at: directory.log, Documents.self, confirmedBy: .acknowledgement,
                durability: .relaxed)
        }
    }

    /// Returns the failed requests that the poisoned intent's attempts show.
    private func countedFailures(_ attempt: Attempt?) throws -> Int {
        let suspicion = attempt?.suspicion ?? .none
        let before = [8: 0, 4: 3, 2: 6, 1: 9][suspicion.intentsMax ?? 8]
        return try #require(before) + suspicion.failures
    }

    private func makeStory(_ policy: String) async throws -> Story {
        let story = Story(policy: policy)
        try Data().write(to: story.book)
        let store = try await story.open()
        for number in Self.intents {
            try await store.record(.set("k\(number)", .integer(Int64(number))))
        }
        await store.close()
        return story
    }

    /// Checks a log whose poisoned intent is quarantined.
    private func check(_ story: Story, _ note: Comment) async throws {
        let store = try await story.open()
        let waiting: [UInt64] = story.policy == "ordered" ? [6, 7, 8] : [6]
        #expect(store.overlay.filter { $0.state == .pending }.map(\.number.value) == waiting, note)
        #expect(store.attempt(of: Self.poison)?.quarantine?.reason == "this intent is poison", note)
        #expect(try await store.verify().findings == [], note)
        #expect(try story.settled.sorted() == Self.intents.filter { !waiting.contains($0) }, note)
        await store.close()
    }

    /// Frees the poisoned intent, and checks that all others are settled once.
    private func free(_ story: Story, byAbandoning: Bool, _ note: Comment) async throws {
        if byAbandoning {
            let store = try await story.open()
            try await store.abandon(Self.poison)
            await store.close()
        }
        #expect(try story.run(0), note)
        let wanted = Self.intents.filter { !byAbandoning || $0 != Self.poison.value }
        #expect(try story.settled.sorted() == wanted, note)
        let store = try await story.open()
        #expect(store.overlay.isEmpty && store.attempts.isEmpty && store.rejections.isEmpty, note)
        #expect(store.view.json.objectValue?.members.count == wanted.count, note)
        #expect(try await store.verify().findings == [], note)
        await store.close()
    }

    /// Kills the process again and again at its nth call, until it comes to its end, or gets no
    /// further. Returns the number of kills.
    private func live(_ story: Story, at call: String, _ nth: Int) async throws -> Int {
        var (kills, idle) = (0, 0)
        var known = (failures: 0, settled: 0)
        while idle < 3 {
            if try story.run(Self.poison, under: Strace.killing(at: call, nth)) { return kills }
            kills += 1
            let note: Comment = "\(story.policy), \(call) \(nth), kill \(kills)"
            let store = try await story.open()
            let counted = try countedFailures(store.attempt(of: Self.poison))
            await store.close()
            let failures = try story.lines("failed").count
            #expect(counted >= known.failures, note)
            #expect((counted...counted + kills).contains(failures), note)
            let settled = try story.settled
            #expect(Set(settled).count == settled.count, note)
            idle = counted > known.failures || settled.count > known.settled ? 0 : idle + 1
            known = (counted, settled.count)
        }
        #expect(try story.run(Self.poison))
        return kills
    }

    @Test(
        .needsStrace,
        arguments: ["ordered", "concurrent"], ["pwrite64", "fdatasync", "write"])
    func `S3: a process that is killed at each of its n-th writes finds the poisoned intent`(
        policy: String, call: String
    ) async throws {
        var (kills, most) = (0, 0)
        // Each request has two commits of several pages, and one or more lines of the book.
        let step = call == "pwrite64" ? 20 : 8
        for nth in TestEffort.places(1...Self.writesMax, quickStep: step) {
            let story = try await makeStory(policy)
            let killed = try await live(story, at: call, nth)
            let note: Comment = "\(policy), \(call) \(nth), \(killed) kills"
            try await check(story, note)
            try await free(story, byAbandoning: nth % 2 == 0, note)
            (kills, most) = (kills + killed, max(most, killed))
            if killed == 0 { break }
        }
        print("quarantine: \(kills) kills at \(call), \(policy), up to \(most) of one log")
        #expect(kills > 0)
    }
}
