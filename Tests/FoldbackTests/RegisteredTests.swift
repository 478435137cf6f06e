import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Foldback

/// An app opened another app's log by mistake and showed an empty view with faults. Which logs does
/// an app open, and what does an opening note?
@Suite struct RegisteredTests {
    /// Another app's events.
    private struct Letters: Projection, Codable {
        enum Event: Codable, Sendable { case sent(letter: String) }
        var count = 0
        mutating func apply(_ event: Event, _ context: EventContext) { count += 1 }
    }

    private struct LetterRows: StoredProjection {
        static let letters = RowTable("letters", key: String.self, row: Int.self)
        static let schema = RowSchema(letters)
        static func apply(
            _ event: Letters.Event, _ context: EventContext, to rows: inout TouchedRows
        ) throws {}
    }

    /// An app's own projection, as an old client has it.
    private struct Old: Projection, Codable {
        static var name: String { "notes" }
        enum Event: Codable, Sendable { case wrote }
        var count = 0
        mutating func apply(_ event: Event, _ context: EventContext) { count += 1 }
    }

    /// The same projection in a newer app, whose events the old client cannot read.
    private struct New: Projection, Codable {
        static var name: String { "notes" }
        static var version: UInt32 { 2 }
        enum Event: Codable, Sendable { case drew }
        var count = 0
        mutating func apply(_ event: Event, _ context: EventContext) { count += 1 }
    }

    private let directory = TemporaryDirectory()

    private func open<P: EventFold>(
        _ projection: P.Type, unreadable: UnreadableLog = .refused,
        sources: LogSources = .counting()
    ) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory.log, projection, confirmedBy: .downlink, durability: .relaxed,
            unreadable: unreadable, sources: sources)
    }

    private func registered() throws -> [RegisteredProjection] {
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        return try log.registeredProjections()
    }

    @Test func `another app's log is refused, unless the caller asks for it`() async throws {
        var letters = try await open(Letters.self)
        _ = try await letters.record(.sent(letter: "a"))
        try await letters.confirm([ConfirmedEvent(position: 1, event: .sent(letter: "b"))])
        await letters.close()
        let refused = await error { () throws(LogError) in try await open(Old.self) }
        guard case .otherApp(_, projections: [Letters.name]) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(refused?.description.contains("another app's") == true)
        #expect(try registered().map(\.identity) == [Letters.identity])
        let asked = try await open(Old.self, unreadable: .opened)
        #expect(asked.view.count == 0 && asked.faults.count == 1)
        await asked.close()
        // It was on the log now, so it may come again.
        await (try open(Old.self)).close()
        letters = try await open(Letters.self)
        #expect(letters.view.count == 2)
        await letters.close()
    }

    @Test func `a downgraded app opens its own log, but can read none of its events`() async throws
    {
        let newer = try await open(New.self)
        _ = try await newer.record(.drew)
        await newer.close()
        let older = try await open(Old.self)
        #expect(older.overlay.count == 1 && older.view.count == 0)
        await older.close()
        #expect(try registered().map(\.identity) == [New.identity, Old.identity])
    }

    @Test func `an old client whose first events are all new cases opens its own log`()
        async throws
    {
        await (try open(Old.self)).close()
        let newer = try await open(New.self)
        try await newer.confirm([ConfirmedEvent(position: 1, event: .drew)])
        await newer.close()
        let older = try await open(Old.self)
        #expect(older.faults.count == 1)
        await older.close()
    }

    /// Logs of earlier versions have no table of projections.
    @Test func `without notes, a checkpoint or rows show whose log it is`() async throws {
        for isStored in [false, true] {
            let directory = TemporaryDirectory()
            func open<P: EventFold>(_: P.Type) async throws(LogError) -> Store<P> {
                try await Store.open(
                    at: directory.log, P.self, confirmedBy: .downlink, durability: .relaxed)
            }
            if isStored {
                let store = try await open(LetterRows.self)
                try await store.confirm([ConfirmedEvent(position: 1, event: .sent(letter: "a"))])
                await store.close()
            } else {
                let store = try await open(Letters.self)
                try await store.confirm([ConfirmedEvent(position: 1, event: .sent(letter: "a"))])
                try await store.checkpoint()
                await store.close()
            }
            let log = try LMDBLog.open(
                directory.log.path, kind: nil, newKind: .downlink, replica: .random,
                options: Durability.relaxed.options, freshReplica: LogSources.system.freshReplica)
            try log.write(
                try log.registeredRows().map { number, _ in
                    TableWrite(.registered, .number(UInt64(number)), nil)
                })
            let unreadable = AppCodec(codec: Old.codec)
            let mine = isStored ? LetterRows.identity.name : Letters.identity.name
            try log.requireOwnLog(of: [mine], codec: unreadable)
            #expect(throws: LogError.self) {
                try log.requireOwnLog(of: [Old.identity.name], codec: unreadable)
            }
            log.close()
        }
    }

    /// An opening that writes checks the whole file. So the first opening of each day was slow.
    @Test func `an opening notes new projections, and the first command of a day renews the notes`()
        async throws
    {
        let time = Mutex<Int64>(1_000)
        let sources = LogSources(
            now: { Timestamp(millisecondsSince1970: time.withLock { $0 }) },
            freshReplica: LogSources.system.freshReplica)
        await (try open(Old.self, sources: sources)).close()
        let first = try registered()
        #expect(first.map(\.identity) == [Old.identity])
        #expect(first.map(\.kind) == [.value])
        time.withLock { $0 = 86_400_999 }
        let sameDay = try await open(Old.self, sources: sources)
        _ = try await sameDay.record(.wrote)
        await sameDay.close()
        #expect(try registered() == first)
        time.withLock { $0 = 86_401_000 }
        let bytes = try Data(contentsOf: directory.log.appending(path: "data.mdb"))
        await (try open(Old.self, sources: sources)).close()
        #expect(try Data(contentsOf: directory.log.appending(path: "data.mdb")) == bytes)
        let nextDay = try await open(Old.self, sources: sources)
        _ = try await nextDay.record(.wrote)
        let later = try nextDay.core.storage.registeredProjections()
        time.withLock { $0 += 86_400_000 }
        _ = try await nextDay.record(.wrote)
        await nextDay.close()
        #expect(try registered() == later)
        #expect(later.map(\.firstOpened) == first.map(\.firstOpened))
        #expect(later.map(\.lastOpened.millisecondsSince1970) == [86_401_000])
        #expect(try RegisteredProjection(decoding: later[0].encoded, of: 1) == later[0])
    }

    @Test func `a damaged note keeps no log from opening, and is a finding`() async throws {
        await (try open(Old.self)).close()
        let log = try LMDBLog.open(
            directory.log.path, kind: nil, newKind: .downlink, replica: .random,
            options: Durability.relaxed.options, freshReplica: LogSources.system.freshReplica)
        try log.write([TableWrite(.registered, .number(1), [1, 2, 3])])
        log.close()
        let store = try await open(Old.self)
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.file])
        #expect(findings.first?.what.contains("registered projection 1") == true)
        await store.close()
        #expect(try registered().map(\.number) == [2])
    }

    // MARK: Replica ids of new logs

    @Test func `A1: a log with a named replica never repeats an id after a wipe`() async throws {
        var seen: Set<IntentID> = []
        for _ in 1...3 {
            let store = try await Store.open(
                at: directory.log, Old.self, confirmedBy: .downlink, durability: .relaxed,
                replica: .named("phone"))
            let id = try await store.record(.wrote).id
            #expect(id.replica.name.string.hasPrefix("phone-") && id.number == 1)
            #expect(seen.insert(id).inserted)
            await store.close()
            try FileManager.default.removeItem(at: directory.log)
        }
    }

    @Test func `a replica's name that is too long for an id is refused`() async throws {
        let refused = await error { () throws(LogError) in
            try await Store.open(
                at: directory.log, Old.self, confirmedBy: .downlink, durability: .relaxed,
                replica: .named(String(repeating: "x", count: 219)))
        }
        guard case .tooLarge(_, bytes: 219, bytesMax: 218) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let exact = try await Store.open(
            at: directory.log, Old.self, confirmedBy: .downlink, durability: .relaxed,
            replica: .exactly(ReplicaID("me")!))
        #expect(exact.status.replica == ReplicaID("me"))
        await exact.close()
    }
}
