import Foldback
import FoldbackExamples
import FoldbackSync
import Testing

@testable import feed_web

/// These tests ask whether a device gets the verdict that a person has chosen. An earlier link took
/// the ruling first, and then found that it could not use it yet.
@MainActor @Suite struct LinkTests {
    private let folder: Folder
    private let stage: Stage
    private let authority: FeedAuthority
    private let link: Link

    private let post = event("mia", .posted("Hello"))
    private let comment = event("mia", .commented(post: "mia.1.0", text: "More"))

    init() async throws {
        folder = try Folder()
        stage = Stage(
            Stage.Settings(), file: folder.url.appending(path: "stage.json"), clock: .system)
        authority = try await FeedAuthority(in: folder)
        let following = Latch()
        following.open()
        link = Link(user: "mia", stage: stage, authority: authority, following: following)
    }

    @Test func `an intent waits for the intent that it builds on`() async throws {
        #expect(try await submit(2, comment).isLater)
        #expect(try await submit(1, post).isAccepted)
        #expect(try await submit(2, comment).isAccepted)
    }

    @Test func `an intent does not wait for ever for an intent that was withdrawn`() async throws {
        for _ in 0..<3 { #expect(try await submit(2, comment).isLater) }
        let reason = try await submit(2, comment).reason
        #expect(reason?.hasSuffix(" mia.1.0") == true)
    }

    @Test func `a rejection of an intent that cannot be accepted yet is kept`() async throws {
        stage.hold()
        async let verdict = submit(2, comment)
        try await decide(2, .reject("No."))
        #expect(try await verdict.reason == "No.")
    }

    @Test func `other words for an intent that cannot be accepted yet are kept`() async throws {
        stage.hold()
        async let verdict = submit(2, comment)
        try await decide(2, .reword("Less"))
        #expect(try await verdict.isLater)
        async let first = submit(1, post)
        try await decide(1, .byRules)
        _ = try await first
        // The ruling is not asked for again.
        #expect(try await submit(2, comment).isAccepted)
        #expect(authority.feed.posts["mia.1.0"]?.comments.map(\.text) == ["Less"])
    }

    @Test func `the next rejection is for an intent without a verdict`() async throws {
        #expect(try await submit(1, post).isAccepted)
        stage.change { $0.rejectsNext = true }
        #expect(try await submit(1, post).isAccepted)
        #expect(stage.settings.rejectsNext)
        #expect(try await submit(2, comment).reason == Stage.refusal)
        #expect(!stage.settings.rejectsNext)
    }

    @Test func `a rejection applies also to an intent that builds on another`() async throws {
        stage.change { $0.rejectsNext = true }
        #expect(try await submit(2, comment).reason == Stage.refusal)
    }

    @Test func `an intent with a verdict is not held again`() async throws {
        stage.change { $0.losesNextAnswer = true }
        await #expect(throws: AuthorityFailure.self) { try await submit(1, post) }
        #expect(authority.feed.posts.count == 1 && !stage.settings.losesNextAnswer)
        let head = authority.space.head
        stage.hold()
        #expect(try await submit(1, post).isAccepted)
        #expect(authority.space.head == head)
    }

    @Test func `a device that is ahead of the authority is told so`() async throws {
        await #expect(throws: AuthorityFailure.superseded(shared: authority.space.head)) {
            try await link.changes(after: SyncPoint(lineage: nil, through: 99))
        }
        await #expect(throws: AuthorityFailure.superseded(shared: 0)) {
            try await link.changes(after: SyncPoint(lineage: .fresh(), through: 0))
        }
    }

    private func submit(_ number: UInt64, _ event: FeedEvent) async throws -> Verdict<FeedEvent> {
        let id = intent("mia", number)
        let verdicts = try await link.submit(
            [try Submission(id, event)], from: SyncPoint(lineage: nil, through: 0))
        return try #require(verdicts.byIntent[id])
    }

    /// Decides on an intent when it is held.
    private func decide(_ number: Int, _ ruling: StageRuling) async throws {
        while !stage.held.contains(where: { $0.id == "mia/\(number)" }) { await Task.yield() }
        try stage.decide("mia/\(number)", ruling)
    }
}

extension Verdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
    fileprivate var isLater: Bool { if case .later = self { true } else { false } }
}
