import ArgumentParser
import Foldback
import FoldbackExamples
import Foundation

/// The demo's second part: a feed on one device, and an authority that answers late, out of order, in
/// other words than predicted, and rejects some.
struct Story: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Tells what becomes of intents in a feed, and checks it at every moment.",
        discussion: """
            Prints the view before, at once after an intent, and after its answer. Whatever is not as \
            the story says ends it, with exit code 1.

            Example: foldback-demo feed --directory /tmp/demo
            """)

    @Option(help: "Where the log is made; it stays there.")
    var directory: String

    func run() async throws {
        let log = try freshLog("feed.log", in: directory)
        var teller = Teller(stage: try await FeedClient(log: log))
        write(
            """
            Mia's device, and an authority that answers when it likes. Bo and Cleo use the app as well;
            Cleo has blocked Mia, who is not told. [1 pending] marks an intent that is not settled.

            """)
        for (index, step) in Step.all.enumerated() { try await teller.tell(step, index + 1) }
        try await teller.end()
        write(
            """
            The log stays at \(log.path)
            What became of an intent: swift run --package-path Tools feed-replay why --intent 6 \(log.path)

            """)
    }
}

/// Plays the story, shows it, and compares every moment of it with what must be seen.
private struct Teller {
    private var stage: FeedClient
    private var expectation = Expectation()
    /// Where each moment is in the log, and what is in view then.
    private var seen: [(sequence: LogSequence, view: Feed)] = []

    init(stage: FeedClient) { self.stage = stage }

    mutating func tell(_ step: Step, _ number: Int) async throws {
        write("\n\(number). \(step.title)\n   \(step.scene)\n")
        var screens: [(caption: String, screen: Screen)] = []
        for moment in step.moments {
            try await Self.naming("step \(number), \(moment.caption)") {
                for act in moment.acts { try await stage.perform(act) }
                expectation.expect(moment)
                try expectation.check(stage)
                screens.append((moment.caption, try stage.screen()))
            }
            seen.append((stage.store.snapshot.sequence, expectation.view))
        }
        for line in Screen.lines(of: screens) { write("   \(line)\n") }
        write("   \(step.rule)\n")
    }

    /// Opens the log once more: it is still right, and so is every view that was seen on the way.
    mutating func end() async throws {
        try await Self.naming("at the end") {
            try await stage.perform(.reopened)
            try expectation.check(stage)
            try await checkPastViews()
            try checkSettled()
        }
        let last = stage.store.snapshot.sequence
        await stage.store.close()
        write(
            """

            Opened once more, all \(last) entries: view and confirmed state are the authority's own fold
            of its events, and each of the \(seen.count) views above can still be seen (F11).

            """)
    }

    private func checkPastViews() async throws {
        for each in seen {
            let past = try await stage.store.snapshot(at: each.sequence).view
            guard past == each.view else {
                throw DemoFailure(
                    description: "the view at \(each.sequence) is \(past), not \(each.view)")
            }
        }
    }

    private func checkSettled() throws {
        let snapshot = stage.store.snapshot
        let theirs = try stage.server.feed(for: "mia", through: stage.server.head)
        guard snapshot.overlay.isEmpty, snapshot.view == theirs, snapshot.confirmed == theirs else {
            throw DemoFailure(description: "not all is settled: \(snapshot)")
        }
    }

    /// Says where in the story something went wrong.
    private static func naming(_ place: String, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            throw DemoFailure(description: "FAILED: \(place): \(error)")
        }
    }
}
