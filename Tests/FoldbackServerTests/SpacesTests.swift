import Foldback
import FoldbackServer
import FoldbackSync
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: does a server with more spaces than may be open serve all of them (N11)?
@Suite struct SpacesTests {
    private let directory = TemporaryDirectory()
    private let names = (1...5).map { SpaceName("space-\($0)")! }

    /// Long polls that wait until they are canceled, and a bell that rings when another begins to wait.
    private final class Waits: Sendable {
        private let begun = Mutex(0)
        private let bell = Signal()
        private let never = Signal()

        var count: Int { begun.withLock { $0 } }

        var sources: SyncSources {
            SyncSources(
                now: SyncSources.system.now,
                sleep: { [self] _ in
                    begun.withLock { $0 += 1 }
                    bell.ring()
                    await never.wait { false }
                }, jitter: { 0 })
        }

        func reach(_ count: Int) async { await bell.wait { [self] in self.count >= count } }
    }

    /// Calls that stay until all of them may leave.
    private final class Crowd: Sendable {
        private let bell = Signal()
        private let count = Mutex(0)
        private let isOver = Mutex(false)

        func stay() async {
            count.withLock { $0 += 1 }
            bell.ring()
            await bell.wait { [self] in isOver.withLock { $0 } }
        }

        func reach(_ wanted: Int) async {
            await bell.wait { [self] in count.withLock { $0 } >= wanted }
        }

        func leave() {
            isOver.withLock { $0 = true }
            bell.ring()
        }
    }

    private func poll(
        _ spaces: Spaces<BoardRules>, _ name: SpaceName, after position: Position = 1
    ) -> Task<Changes<Move>, any Error> {
        Task {
            try await spaces.authority(for: .ben, in: name).changes(
                after: SyncPoint(lineage: nil, through: position), waiting: .seconds(50))
        }
    }

    @Test func `long polls keep no space open, and closing a space wakes none of them`()
        async throws
    {
        let waits = Waits()
        let spaces = Spaces(
            in: directory.url, rules: BoardRules(), openMax: 2, sources: waits.sources)
        var polls: [Task<Changes<Move>, any Error>] = []
        for (count, name) in names.enumerated() {
            polls.append(poll(spaces, name))
            await waits.reach(count + 1)
        }
        // Each space after the second closed an earlier one, whose poll went on waiting.
        #expect(waits.count == 5)
        for (place, name) in names.enumerated() {
            let ann = spaces.authority(for: .ann, in: name)
            // A poll wakes up for an event that it may not see, and waits again.
            _ = try await ann.submit([sent(1, .set("secret", place))])
            await waits.reach(6 + place)
            _ = try await ann.submit([sent(2, .set("a", place))])
            let page = try await polls[place].value
            #expect(page.events.map(\.origin) == [id(2)] && page.through == 3)
        }
        #expect(waits.count == 10)
        await spaces.close()
    }

    @Test func `a server that closes ends its long polls`() async throws {
        let waits = Waits()
        let spaces = Spaces(
            in: directory.url, rules: BoardRules(), openMax: 2, sources: waits.sources)
        let polls = names.map { poll(spaces, $0) }
        // Three spaces cannot be opened while two are in use. Their polls have failed.
        await spaces.close()
        for poll in polls { #expect(await error { try await poll.value } is AuthorityFailure) }
    }

    @Test func `a space is unavailable while all spaces that may be open are in use`() async throws
    {
        let spaces = Spaces(in: directory.url, rules: BoardRules(), openMax: 2)
        let crowd = Crowd()
        await withTaskGroup(of: Void.self) { group in
            for name in names[..<2] {
                group.addTask {
                    try? await spaces.using(name) { _ throws(AuthorityFailure) in
                        await crowd.stay()
                    }
                }
            }
            await crowd.reach(2)
            let failure = await error { () async throws(AuthorityFailure) in
                try await spaces.authority(for: .ann, in: names[2]).changes(after: 0)
            }
            #expect(
                failure
                    == .unavailable(
                        after: .seconds(1), reason: "all 2 spaces that may be open are in use"))
            // A space that is open serves others meanwhile.
            let open = await error { () async throws(AuthorityFailure) in
                try await spaces.authority(for: .ann, in: names[0]).changes(after: 0)
            }
            #expect(open == nil)
            crowd.leave()
        }
        _ = try await spaces.authority(for: .ann, in: names[2]).changes(after: 0)
        await spaces.close()
    }

    @Test func `spaces that take turns lose nothing, and each poll gets its events`() async throws {
        let spaces = Spaces(in: directory.url, rules: BoardRules(), openMax: 2)
        let rounds = 1...TestEffort.value(quick: 6, full: 60) as ClosedRange<UInt64>
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask {
                    let ann = spaces.authority(for: .ann, in: name)
                    for number in rounds {
                        let answer = try await retried { () async throws(AuthorityFailure) in
                            try await ann.submit([sent(number, .set("a", Int(number)))])
                        }
                        let wanted = Verdict<Move>.accepted(
                            position: Position(number + 1), replacement: nil)
                        #expect(answer[id(number)] == wanted)
                    }
                }
                group.addTask {
                    let ben = spaces.authority(for: .ben, in: name)
                    var (through, found) = (1 as Position, [] as [IntentID?])
                    while found.count < rounds.count {
                        let device = SyncPoint(lineage: nil, through: through)
                        let page = try await retried { () async throws(AuthorityFailure) in
                            try await ben.changes(after: device, waiting: .seconds(50))
                        }
                        (through, found) = (page.through, found + page.events.map(\.origin))
                    }
                    #expect(found == rounds.map { id($0) })
                }
            }
            try await group.waitForAll()
        }
        await spaces.close()
    }
}

/// Calls `body` again as long as it fails because all spaces are in use.
private func retried<T>(
    _ body: () async throws(AuthorityFailure) -> T
) async throws(AuthorityFailure) -> T {
    while true {
        do throws(AuthorityFailure) { return try await body() } catch {
            guard case .unavailable(after: .some, _) = error else { throw error }
            await Task.yield()
        }
    }
}
