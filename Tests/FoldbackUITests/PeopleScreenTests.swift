import Foldback
import FoldbackSync
import FoldbackUI
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
