import ArgumentParser
import Foldback
import FoldbackExamples
import Foundation

/// The demo's second part: a feed on one device. Its authority answers late and out of order,
/// replaces some events, and rejects some intents.
struct Story: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Shows the life of intents in a feed, and checks the state at each moment.",
        discussion: """
            Prints the view before an intent, just after it, and after its answer. If a state differs \
            from the story, the exit code is 1.

            Example: foldback-demo feed --directory /tmp/demo
            """)

    @Option(help: "The directory for the log, which stays there.")
    var directory: String

    func run() async throws {
        let log = try freshLog("feed.log", in: directory)
        var player = StoryPlayer(client: try await FeedClient(log: log))
        write(
            """
            This is Mia's device. Its authority answers late. Bo and Cleo also use the app. Cleo has
            blocked Mia, which Mia cannot see. [1 pending] marks an intent that is not settled.

            """)
        for (index, step) in Step.all.enumerated() { try await player.play(step, index + 1) }
        try await player.end()
        write(
            """
            The log stays at \(log.path)
            To see the story of an intent: swift run --package-path Tools feed-replay why --intent 6 \(log.path)

            """)
    }
}

/// Plays the story, prints it, and compares the state at each moment with the expectation.
private struct StoryPlayer {
    private var client: FeedClient
    private var expectation = Expectation()
    /// The sequence and the view at each moment.
    private var moments: [(sequence: LogSequence, view: Feed)] = []

    init(client: FeedClient) { self.client = client }

    mutating func play(_ step: Step, _ number: Int) async throws {
        write("\n\(number). \(step.title)\n   \(step.scene)\n")
        var screens: [(caption: String, screen: Screen)] = []
        for moment in step.moments {
            try await Self.failing(at: "step \(number), \(moment.caption)") {
                for act in moment.acts { try await client.perform(act) }
                expectation.expect(moment)
                try expectation.check(client)
                screens.append((moment.caption, try client.screen()))
            }
            moments.append((client.store.snapshot.sequence, expectation.view))
        }
        for line in Screen.lines(of: screens) { write("   \(line)\n") }
        write("   \(step.rule)\n")
    }

    /// Opens the log once more, and checks the last state and all past views.
    mutating func end() async throws {
        try await Self.failing(at: "the end") {
            try await client.perform(.reopened)
            try expectation.check(client)
            try await checkPastViews()
            try checkSettled()
        }
        let last = client.store.snapshot.sequence
        await client.store.close()
        write(
            """

            The log was opened once more, with \(last) entries. The view and confirmed state equal the
            authority's own fold, and the \(moments.count) views above can still be read (F11).

            """)
    }

    private func checkPastViews() async throws {
        for moment in moments {
            let past = try await client.store.snapshot(at: moment.sequence).view
            guard past == moment.view else {
                throw DemoFailure(
                    description: "the view at \(moment.sequence) is \(past), not \(moment.view)")
            }
        }
    }

    private func checkSettled() throws {
        let snapshot = client.store.snapshot
        let feed = try client.server.feed(for: "mia", through: client.server.head)
        guard snapshot.overlay.isEmpty, snapshot.view == feed, snapshot.confirmed == feed else {
            throw DemoFailure(description: "not all intents are settled: \(snapshot)")
        }
    }

    /// Adds the place in the story to the errors of `body`.
    private static func failing(at place: String, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            throw DemoFailure(description: "FAILED: \(place): \(error)")
        }
    }
}
