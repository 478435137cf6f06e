import FoldbackSync
import Foundation
import Testing

@testable import feed_web

/// These tests ask whether held requests get the answer that a person gives them, and only once.
@MainActor @Suite struct StageTests {
    private let folder: Folder
    private let clock = FeedClock.manual(start: .zero)
    private let file: URL
    private let stage: Stage

    init() throws {
        folder = try Folder()
        file = folder.url.appending(path: "stage.json")
        stage = Stage(Stage.Settings(), file: file, clock: clock)
    }

    @Test func `held requests are released in any order`() async throws {
        stage.hold()
        let answers = ["mia/1", "mia/2"].map { id in Task { try await stage.admit(Self.like(id)) } }
        while stage.held.count < 2 { await Task.yield() }
        try stage.decide("mia/2", .reject("No."))
        try stage.release("mia/1")
        let first = try await answers[0].value
        let second = try await answers[1].value
        #expect(first == .byRules && second == .reject("No.") && stage.held.isEmpty)
        #expect(throws: Refusal.self) { try stage.release("mia/1") }
    }

    @Test func `going offline drops the device's requests`() async throws {
        stage.hold()
        let answer = Task { try await stage.admit(Self.like("mia/1")) }
        while stage.held.isEmpty { await Task.yield() }
        stage.setOnline(false, "mia")
        await #expect(throws: AuthorityFailure.self) { try await answer.value }
        await #expect(throws: AuthorityFailure.self) {
            try await stage.admit(Self.like("mia/1"))
        }
    }

    @Test func `a canceled request is dropped`() async throws {
        stage.hold()
        let answer = Task { try await stage.admit(Self.like("mia/1")) }
        while stage.held.isEmpty { await Task.yield() }
        answer.cancel()
        await #expect(throws: AuthorityFailure.self) { try await answer.value }
        #expect(stage.held.isEmpty)
    }

    @Test func `settings outlive the process`() throws {
        stage.hold()
        stage.setOnline(false, "ben")
        #expect(Stage.settings(in: file) == stage.settings)
    }

    @Test func `a damaged file of settings is a complaint, and the stage starts`() throws {
        try Data("{".utf8).write(to: file)
        #expect(Stage.settings(in: file) == Stage.Settings())
    }

    @Test func `a request that comes again replaces the first, also with other words`() async throws
    {
        stage.hold()
        let first = Task { try await stage.admit(Self.like("mia/1")) }
        while stage.held.isEmpty { await Task.yield() }
        var again = Self.like("mia/1")
        again.content = "other"
        let second = Task { [again] in try await stage.admit(again) }
        await #expect(throws: AuthorityFailure.self) { try await first.value }
        #expect(stage.held == [again])
        try stage.release("mia/1")
        #expect(try await second.value == .byRules)
    }

    @Test func `a delayed request passes when its time has come`() async throws {
        stage.change { $0.delay = 2 }
        let answer = Task { try await stage.admit(Self.like("mia/1")) }
        while clock.manual?.wakeUps.isEmpty ?? false { await Task.yield() }
        #expect(stage.isParked("mia/1"))
        clock.manual?.advance(by: .seconds(2))
        #expect(!stage.isParked("mia/1"))
        #expect(try await answer.value == .byRules)
    }

    private nonisolated static func like(_ id: String) -> StagedRequest {
        StagedRequest(id: id, by: "mia", what: "like", text: "Like a post")
    }
}
