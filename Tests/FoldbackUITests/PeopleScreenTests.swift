import Foldback
import FoldbackSync
import FoldbackUI
import Observation
import TestSupport
import Testing

/// The screen of the article about building a screen, from an empty log on.
@MainActor @Suite struct PeopleScreenTests {
    private let store = Store.inMemory(People.self, confirmedBy: .downlink)
    private let server = InProcessAuthority(People.self)
    private let clock = ManualClock()

    /// The clock of the test, with frames that begin at once.
    private var sources: UISources {
        var sources = clock.sources
        sources.frame = {}
        return sources
    }

    /// The server, which answers after a time.
    private func server(after delay: Duration) -> DelayedAuthority<People.Event> {
        DelayedAuthority(server, there: { delay }) { [clock] duration in
            await clock.sources.sleep(clock.now.advanced(by: duration))
        }
    }

    init() async throws {
        let replica = try #require(ReplicaID("server"))
        let codec = People.codec
        for (number, name) in [(1, "mia"), (2, "zoe")] {
            let event = People.Event.loaded(Person(name: name, followers: 9))
            let recorded = RecordedEvent(format: codec.format, bytes: try codec.encode(event))
            let submission = Submission(
                id: IntentID(replica: replica, number: IntentNumber(UInt64(number))), event: event,
                recorded: recorded,
                time: Timestamp(millisecondsSince1970: 0), info: [:])
            _ = try await server.submit([submission])
        }
    }

    @Test func `a person is followed at once`() async throws {
        let screen = PeopleScreen(store, from: server)
        screen.loading.ask()
        await until { screen.lines.first == "mia, 9 followers" }
        let model = screen.model

        let followers = model.select { $0.people["mia"]?.followers }
        try await model.perform(.following("mia", true), from: .user(origin: "follow mia"))
        #expect(followers.value == 10)
        #expect(model.status(of: "mia").worst == .pending)
    }

    @Test func `a screen shows placeholders, people, a mark, a refusal and a retry`()
        async throws
    {
        let screen = PeopleScreen(store, from: server(after: .seconds(5)), sources: sources)

        screen.loading.ask()
        #expect(screen.lines == ["…", "…", "…"])
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        await until { screen.notice == "Loading people" }
        clock.advance(by: .seconds(4))
        await until { screen.lines == ["mia, 9 followers", "zoe, 9 followers"] }
        await until { screen.notice == nil }

        let receipt = try await screen.model.perform(.following("mia", true))
        #expect(screen.lines == ["mia, 10 followers, sending", "zoe, 9 followers"])
        try await store.reject(receipt.number, message: "mia is private")
        await until {
            screen.lines == ["mia, 9 followers, refused: mia is private", "zoe, 9 followers"]
        }

        let mark = try #require(screen.model.status(of: "mia").marks.first)
        #expect(mark.actions == [.retry, .dismiss])
        try await screen.model.press(.retry, on: mark)
        #expect(screen.lines == ["mia, 10 followers, sending", "zoe, 9 followers"])
    }

    @Test func `a request that needs a new sign-in says so`() async throws {
        let server = FaultyAuthority(server) { _ in .unauthenticated }
        let screen = PeopleScreen(store, from: server, sources: sources)
        screen.loading.ask()
        await screen.loading.waitUntilIdle()
        #expect(
            screen.notice
                == "Loading people failed. You are signed out. Sign in, then try again.")
        #expect(screen.lines == [])
    }

    @Test(arguments: [
        (
            AuthorityFailure.unavailable(after: nil, reason: "503"),
            "The server is busy. Wait a few minutes, then try again."
        ),
        (.failed(reason: "500"), "The server has failed. Try again later."),
        (.unreachable(reason: "timeout"), "Check the connection, then try again."),
    ])
    func `a failure of the server says what to do`(_ failure: AuthorityFailure, words: String) {
        let text = ProgressText.ended("loading people", ProgressEnd(failure))
        #expect(ProgressTexts.english.words(for: text) == "Loading people failed. \(words)")
    }

    @Test func `the answer to a question is waited for, and told once`() async throws {
        let screen = PeopleScreen(store, from: server, sources: sources)
        screen.loading.ask()
        await screen.loading.waitUntilIdle()
        let start = screen.model.revision
        let progress = ProgressModel(sources: sources)
        for (name, answer) in [("mia", nil), ("zoe", "zoe is private")] {
            let asking = Task { try await screen.ask(name, in: progress) }
            await until { screen.model.status(of: name).worst == .pending }
            #expect(progress.appearance?.blocked == .items(name))
            #expect(screen.model.view.people[name]?.isFollowed == false)
            let number = try #require(store.overlay.first?.number)
            if let answer {
                try await store.reject(number, message: answer)
                await #expect(throws: IntentFailure.self) { try await asking.value }
            } else {
                try await confirm(number, .following(name, true))
                try await asking.value
                #expect(screen.model.view.people[name]?.isFollowed == true)
            }
            #expect(progress.appearance?.isBlocking == false)
        }

        let told = Told(after: start)
        await told.listen(to: screen, until: 2)
        #expect(told.words == ["mia agrees", "zoe is private"])
        // After a restart.
        let receipt = try await screen.model.perform(.following("zoe", true))
        try await store.reject(receipt.number, message: "zoe is still private")
        await told.listen(to: screen, until: 3)
        #expect(told.words.last == "zoe is still private")
    }

    /// A person who hears answers.
    @MainActor @Observable final class Told {
        private(set) var words: [String] = []
        private var kept: LogSequence

        init(after start: LogSequence) { kept = start }

        /// Listens until the person has heard this many answers.
        func listen(to screen: PeopleScreen, until count: Int) async {
            let listening = Task {
                try await screen.tellAnswers(after: kept) { words, sequence in
                    self.words.append(words)
                    kept = sequence
                }
            }
            await FoldbackUITests.until { self.words.count >= count }
            listening.cancel()
            _ = await listening.result
        }
    }

    /// Confirms an intent, as a downlink does.
    private func confirm(_ number: IntentNumber, _ event: People.Event) async throws {
        let position = Position(store.status.through.value + 1)
        try await store.confirm([
            ConfirmedEvent(
                position: position, event: event,
                origin: IntentID(replica: store.status.replica, number: number))
        ])
    }

    @Test func `U9: nobody is a fact only after the view has what was fetched`() async throws {
        let frames = Frames(held: true)
        let screen = PeopleScreen(store, from: server, sources: frames.sources)
        // The model waits for the next frame, which does not begin.
        while !frames.isWaiting {
            try await store.record(.following("nobody", true))
            await Task.yield()
        }
        let shown = ShownValues { screen.lines }
        screen.loading.ask()
        await screen.loading.waitUntilIdle()
        #expect(frames.isWaiting)
        #expect(screen.lines == ["mia, 9 followers", "zoe, 9 followers"])
        #expect(shown.values == [["…", "…", "…"], ["mia, 9 followers", "zoe, 9 followers"]])
        frames.begin()
    }

    @Test func `U9: nobody is a fact once a fetch has found nobody`() async throws {
        let screen = PeopleScreen(
            store, from: InProcessAuthority(People.self), sources: Frames().sources)
        let shown = ShownValues { screen.lines }
        screen.loading.ask()
        await screen.loading.waitUntilIdle()
        #expect(shown.values == [["…", "…", "…"], ["There is nobody yet"]])
    }

    @Test func `a request that the end of the store has stopped finds nothing out`() async throws {
        let screen = PeopleScreen(
            store, from: server(after: .seconds(5)), sources: sources)
        screen.loading.ask()
        await clock.waitForSleepers(2)
        await store.close()
        clock.advance(by: .seconds(5))
        await screen.loading.waitUntilIdle()
        #expect(screen.loading.data.isNotAsked)
        #expect(screen.lines == ["…", "…", "…"])
    }

    @Test func `a wait can be canceled and restarted`() async throws {
        let screen = PeopleScreen(store, from: server(after: .seconds(100)), sources: sources)
        screen.loading.ask()
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        await until { screen.loading.progress.appearance?.actions == [.cancel, .restart] }
        screen.press(.cancel)
        #expect(screen.loading.data.isNotAsked)
        screen.press(.restart)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(100))
        await until { screen.lines.count == 2 }
    }
}
