import Foldback
import FoldbackSync
import Foundation

/// Questions about what is sent, and about other authorities.
extension Probe {
    /// Runs an outbox until nothing is pending, or until the authority supersedes the log.
    private nonisolated(nonsending) func send<P: EventFold>(
        from store: Store<P>, to authority: StubAuthority<P.Event>
    ) async {
        let outbox = Outbox(store, to: authority, policy: .ordered)
        let run = Task { try await outbox.run() }
        for await status in outbox.statuses {
            if case .superseded = status.pause { break }
            if store.status.pendingCount == 0 { break }
        }
        run.cancel()
        _ = await run.result
    }

    /// The authority has no lineage, and only its head shows that it lost two events.
    nonisolated(nonsending) func recordsAfterLoss(_ log: URL) async throws -> Bool {
        let store = try await Self.openDownlinkLog(log)
        try await store.confirm([ConfirmedEvent(position: 5, event: .added(1))])
        try await store.record(.added(1))
        let authority = StubAuthority<TestEvent>([], head: 3)
        await send(from: store, to: authority)
        var isFound = store.status.pendingCount == 0
        do throws(SyncError) {
            _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
            isFound = true
        } catch {
            guard case .superseded(shared: 3) = error else { throw error }
        }
        await store.close()
        return isFound
    }

    /// Intents are recorded until the store closes.
    nonisolated(nonsending) func losesLateIntents(_ log: URL) async throws -> Bool {
        let store = try await Self.openDownlinkLog(log)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .added(1))], from: Lineage("first"))
        let authority = InProcessAuthority(CorrectProjection.self)
        do throws(SyncError) {
            _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
        } catch {
            guard case .superseded = error else { throw error }
        }
        async let count = recordUntilClosed(store)
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: .pending, opening: Self.openDownlinkLog)
        guard case .continued(let next, _) = result else { return true }
        let isLost = try await next.status.pendingCount < count
        await next.close()
        return isLost
    }

    private func recordUntilClosed(_ store: Store<CorrectProjection>) async throws -> Int {
        var count = 0
        while true {
            do throws(CommandError) { try await store.record(.put("a", count)) } catch {
                guard case .log(.closed) = error else { throw error }
                return count
            }
            count += 1
        }
    }

    /// The authority has one event at the first fetch, and the next event at the second.
    nonisolated(nonsending) func missesNextEvent(_ log: URL) async throws -> Bool {
        let store = try await Self.openDownlinkLog(log)
        let pages = [1, 2].map { number in
            Changes(
                events: [ConfirmedEvent(position: Position(number), event: TestEvent.added(1))],
                through: Position(number), hasMore: false)
        }
        let authority = StubAuthority([], pages: pages)
        let downlink = Downlink(store, from: authority, policy: .ordered)
        for _ in pages { _ = try await downlink.fetch() }
        let isMissing = store.view.state.sum != 2
        await store.close()
        return isMissing
    }

    @Sendable private static func openDownlinkLog(
        _ log: URL
    ) async throws(LogError) -> Store<CorrectProjection> {
        try await Store.open(
            at: log, CorrectProjection.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// An older edition of the app recorded the intent.
    nonisolated(nonsending) func sendsOtherBytes(_ log: URL) async throws -> Bool {
        let old = try await Store.open(
            at: log, EditedSum<FirstEdition>.self, confirmedBy: .acknowledgement,
            durability: .relaxed)
        try await old.record(7)
        await old.close()
        let store = try await Store.open(
            at: log, EditedSum<SecondEdition>.self, confirmedBy: .acknowledgement,
            durability: .relaxed)
        let authority = StubAuthority<Int>([])
        await send(from: store, to: authority)
        await store.close()
        let recorded = EditedSum<FirstEdition>.codec
        let wanted = RecordedEvent(format: recorded.format, bytes: try recorded.encode(7))
        return authority.submitted.flatMap { $0 }.map(\.recorded) != [wanted]
    }
}

/// An edition of an app.
private protocol Edition: Sendable {
    /// The version of events that it writes.
    static var version: UInt16 { get }
}

private enum FirstEdition: Edition { static let version: UInt16 = 1 }
private enum SecondEdition: Edition { static let version: UInt16 = 2 }

/// A sum, whose events each edition of the app writes in another version.
private struct EditedSum<E: Edition>: Projection {
    var sum = 0

    static var name: String { "EditedSum" }
    static var codec: any EventCodec<Int> { JSONCodec(version: E.version) }

    mutating func apply(_ number: Int, _ context: EventContext) { sum += number }
}
