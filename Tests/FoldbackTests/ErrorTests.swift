import Foldback
import Foundation
import TestSupport
import Testing

/// An app developer could show no error: `localizedDescription` was "The operation could not be
/// completed", and an app's own error became a text. What can a screen show?
@Suite struct ErrorTests {
    private let directory = TemporaryDirectory()

    private struct Plain: Error, Equatable { let post: Int }

    private enum Worded: Error, LocalizedError, Equatable {
        case postIsGone(Int)

        var errorDescription: String? { "This post was deleted." }
        var recoverySuggestion: String? { "Look at the other posts." }
    }

    private enum Ask: Codable, Sendable { case nothing, plain, worded }

    private struct Posts: Projection, Codable {
        private(set) var count = 0

        mutating func apply(_ event: Ask, _ context: EventContext) throws {
            switch event {
            case .nothing: count += 1
            case .plain: throw Plain(post: 7)
            case .worded: throw Worded.postIsGone(7)
            }
        }
    }

    private struct Others: Projection, Codable {
        private(set) var count = 0

        mutating func apply(_ event: Ask, _ context: EventContext) throws {
            guard case .nothing = event else { throw Plain(post: 8) }
            count += 1
        }
    }

    private struct Rows: StoredProjection {
        static let posts = RowTable("posts", key: Int.self, row: Int.self)
        static let schema = RowSchema(posts)

        static func apply(
            _ event: Ask, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .nothing = event else { throw Worded.postIsGone(9) }
        }
    }

    private func words(_ error: any Error) -> (String, String?) {
        (error.localizedDescription, (error as NSError).localizedRecoverySuggestion)
    }

    private func refusal(
        _ event: Ask, _ also: [AdditionalProjection<Ask>] = []
    ) async throws -> (CommandError, Inapplicable) {
        let store = Store.inMemory(Posts.self, also: also, confirmedBy: .downlink)
        let error = try #require(
            await error { () throws(CommandError) in try await store.record(event) })
        guard case .inapplicable(let refusal) = error else { throw error }
        #expect(store.status.sequence == 0)
        return (error, refusal)
    }

    /// A screen showed `postIsGone(7)` for a conflict, and the same error in words when `record`
    /// threw it.
    @Test func `F9: a conflict and a fault have the app's own words`() async throws {
        let store = Store.inMemory(
            Posts.self, also: [AdditionalProjection(Rows.self)], conflicts: .perProjection,
            confirmedBy: .downlink)
        _ = try await store.record(.worded, force: true)
        _ = try await store.record(.plain, force: true)
        let rows = store.projected(Rows.self)
        #expect(store.snapshot.conflict(of: 1) == "This post was deleted.")
        #expect(rows.conflict(of: 1) == "This post was deleted.")
        #expect(store.snapshot.conflict(of: 2) == "Plain(post: 7)")
        try await store.confirm(
            [
                ConfirmedEvent(position: 1, event: .worded),
                ConfirmedEvent(position: 2, event: .plain),
            ], through: 2)
        #expect(store.faults.map(\.reason) == ["This post was deleted.", "Plain(post: 7)"])
        #expect(rows.faults.map(\.reason) == Array(repeating: "This post was deleted.", count: 2))
        await store.close()
    }

    @Test func `F9: a refused event keeps the app's own error, and names the projection`()
        async throws
    {
        let (error, refusal) = try await refusal(.plain)
        #expect(refusal.projection == Posts.name)
        #expect(refusal.underlying() == Plain(post: 7))
        #expect(refusal.underlying(as: Worded.self) == nil)
        #expect(refusal.reason == "Plain(post: 7)")
        let text =
            "the event does not apply to the current view: Plain(post: 7); "
            + "change what you entered, and try again, or record the event with force; "
            + "\(Posts.name) refused it"
        #expect("\(error)" == text)
        #expect(
            words(error)
                == (
                    "The event does not apply to the current view: Plain(post: 7).",
                    "Change what you entered, and try again."
                ))
    }

    @Test func `the words of an app's own error are the words of the refusal`() async throws {
        let (error, refusal) = try await refusal(.worded)
        #expect(refusal.underlying() == Worded.postIsGone(7))
        #expect(words(error) == ("This post was deleted.", "Look at the other posts."))
    }

    /// The suggestion was lost if the app's error had no words of its own.
    @Test(arguments: [nil, "It is so."], [nil, "Do so."])
    func `an app's error without words leaves the words of the refusal`(
        description: String?, suggestion: String?
    ) {
        let error = CommandError.inapplicable(
            Inapplicable(
                projection: "Posts",
                error: Partial(errorDescription: description, recoverySuggestion: suggestion)))
        let change = "Change what you entered, and try again."
        let problem = "The event does not apply to the current view: partial."
        #expect(words(error).0 == description ?? problem)
        #expect(words(error).1 == suggestion ?? (description == nil ? change : nil))
    }

    private struct Partial: Error, LocalizedError, CustomStringConvertible {
        let errorDescription: String?
        let recoverySuggestion: String?
        var description: String { "partial" }
    }

    @Test func `F9: the first projection that refuses is named`() async throws {
        let (_, refusal) = try await refusal(.plain, [AdditionalProjection(Others.self)])
        #expect(refusal.projection == Posts.name)
        let store = Store.inMemory(
            Others.self, also: [AdditionalProjection(Posts.self)], confirmedBy: .downlink)
        let other = await error { () throws(CommandError) in try await store.record(.worded) }
        guard case .inapplicable(let found) = other else {
            Issue.record("\(String(describing: other))")
            return
        }
        #expect(found.projection == Others.name)
        #expect(found.underlying() == Plain(post: 8))
    }

    @Test func `errors have a sentence and a suggestion`() {
        let failure = LogError.locked(path: "/a", holder: .thisProcess)
        #expect(
            words(failure)
                == ("The log at /a is in use: this process has it open already.", "Use that store.")
        )
        #expect(
            words(LogError.pendingIntents(path: "/a", count: 1, held: 0)).0
                == "The log at /a has 1 pending intent; nothing was changed.")
        #expect(
            words(LogError.pendingIntents(path: "/a", count: 1, held: 0)).1
                == "Send it first or discard it.")
        #expect(
            words(LogError.pendingIntents(path: "/a", count: 2, held: 0)).1
                == "Send them first or discard them.")
        #expect(
            words(LogError.damaged(path: "/a", sequence: 3, reason: "no"))
                == (
                    "The log at /a is damaged at sequence 3: no; nothing was changed.",
                    "Restore a backup or send the log to its developers."
                ))
        #expect(
            words(LogError.newerFormat(path: "/a", sequence: nil, found: "format 9"))
                == (
                    "The log at /a was written by a newer Foldback (format 9); nothing was changed.",
                    "Use that version."
                ))
        #expect(words(LogError.cancelled).1 == nil)
        #expect(
            words(RowError.isAbsent(table: "posts")).0 == "The row in posts does not exist.")
    }

    @Test func `F9: a stored projection's error is kept, too`() async throws {
        let store = Store.inMemory(Rows.self, confirmedBy: .downlink)
        let error = await error { () throws(CommandError) in try await store.record(.plain) }
        guard case .inapplicable(let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.projection == Rows.name)
        #expect(refusal.underlying() == Worded.postIsGone(9))
    }

    @Test func `a suggestion for people has no words of the API`() {
        let lacking = LogError.lacksProjections(path: "/a", names: ["Likes"])
        #expect(words(lacking).1 == "Open it with the app that has them.")
        #expect("\(lacking)".contains(".shared.dropping(...)"))
        let other = LogError.otherApp(path: "/a", projections: [])
        #expect(words(other).1 == "Check the path." && "\(other)".contains(".opened"))
        let superseded = CommandError.superseded(shared: 0)
        #expect(words(superseded).0.hasSuffix(": it has other data; nothing was recorded."))
        #expect(words(superseded).1 == "Continue on a new log.")
        #expect("\(superseded)".contains("Store.continueOnNewLog"))
    }

    @Test func `a full disk says what to do`() {
        let failure = StorageFailure(
            path: "/a", reason: .diskFull(freeBytes: 7), detail: "commit: the disk is full",
            leavesOutcomeUnknown: false)
        let problem =
            "he log at /a could not be read or written: commit: the disk is full (7 bytes free)"
        #expect("\(failure)" == "t\(problem); free some space")
        #expect(words(failure) == ("T\(problem).", "Free some space."))
        #expect(
            "\(LogError.storage(failure))"
                == "t\(problem); nothing was changed by this call; free some space")
    }

    @Test func `a receipt can be ignored`() async throws {
        let store = Store.inMemory(Posts.self, confirmedBy: .downlink)
        try await store.record(.nothing)
        #expect(store.view.count == 1)
    }

    @Test func `a timestamp is a date, to the millisecond`() {
        for milliseconds in [0, 1, -1, 1_795_209_600_123, -62_135_596_800_000, 253_402_300_799_999]
            as [Int64]
        {
            let time = Timestamp(millisecondsSince1970: milliseconds)
            #expect(Timestamp(time.date) == time)
        }
        #expect(Timestamp(Date(timeIntervalSince1970: 1.5)).millisecondsSince1970 == 1_500)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e300)).millisecondsSince1970 == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)).millisecondsSince1970 == .min)
        #expect(Timestamp(millisecondsSince1970: 1_500).date == Date(timeIntervalSince1970: 1.5))
    }
}
