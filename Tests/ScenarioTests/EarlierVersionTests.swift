import Foldback
import Foundation
import TestSupport
import Testing

/// Question: does a new version of a projection begin at the base that an earlier version left, as if it
/// had folded all entries (C6)?
@Suite struct EarlierVersionTests {
    private let directory = TemporaryDirectory()

    fileprivate enum Note: Codable, Sendable {
        case written(String, stars: Int)
        case erased(String)
    }

    fileprivate protocol NoteValue: Projection, Codable, Equatable where Event == Note {}

    /// The state: the stars of each note.
    fileprivate struct Notes1: NoteValue {
        var stars: [String: Int] = [:]
        static let name = "Notes"

        mutating func apply(_ note: Note, _ context: EventContext) {
            switch note {
            case .written(let key, let stars): self.stars[key] = stars
            case .erased(let key): stars[key] = nil
            }
        }
    }

    /// Version 2 has a new member, which nothing of old events depends on.
    fileprivate struct Notes2: NoteValue {
        var stars: [String: Int] = [:]
        var pinned: Set<String>?
        static let name = "Notes"
        static let version: UInt32 = 2
        static var earlierVersions: [EarlierVersion<Self>] { [.adopted(1)] }

        mutating func apply(_ note: Note, _ context: EventContext) {
            switch note {
            case .written(let key, let stars): self.stars[key] = stars
            case .erased(let key): stars[key] = nil
            }
        }
    }

    /// Version 3 has the notes in another form.
    fileprivate struct Notes3: NoteValue {
        var keys: [Int: Set<String>] = [:]
        static let name = "Notes"
        static let version: UInt32 = 3
        static var earlierVersions: [EarlierVersion<Self>] {
            [.refolded(2), .migrated(1) { (old: Notes1) in Notes3(old) }]
        }

        init() {}
        init(_ old: Notes1) {
            for (key, stars) in old.stars { keys[stars, default: []].insert(key) }
        }

        mutating func apply(_ note: Note, _ context: EventContext) {
            switch note {
            case .written(let key, let stars):
                erase(key)
                keys[stars, default: []].insert(key)
            case .erased(let key): erase(key)
            }
        }

        private mutating func erase(_ key: String) {
            for (stars, old) in keys where old.contains(key) {
                keys[stars] = old.count == 1 ? nil : old.subtracting([key])
            }
        }
    }

    /// Rows of notes, whose version, indexes and tables differ.
    fileprivate protocol NoteRows: StoredProjection where Event == Note {
        static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws
    }

    fileprivate struct Rows1: NoteRows {
        static let notes = RowTable("notes", key: String.self, row: Int.self)
        static let schema = RowSchema(notes)
        static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {
            if let stars {
                try rows.put(stars, at: key, in: notes)
            } else {
                try rows.remove(key, from: notes)
            }
        }
    }

    /// Version 1 with an index more.
    fileprivate struct RowsIndexed: NoteRows {
        static let notes = RowTable("notes", key: String.self, row: Int.self)
        static let byStars = notes.index("by stars") { _, stars in stars }
        static let schema = RowSchema(byStars, notes)
        static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {
            if let stars {
                try rows.put(stars, at: key, in: notes)
            } else {
                try rows.remove(key, from: notes)
            }
        }
    }

    /// Version 2 has keys of two parts and another row.
    fileprivate struct Rows2: NoteRows {
        struct Row: Codable, Equatable { var stars: Int }
        static let rated = RowTable("rated", key: KeyPair<Int, String>.self, row: Row.self)
        static let places = RowTable("places", key: String.self, row: Int.self)
        static let byName = rated.index("by name", isUnique: true) { key, _ in key.second }
        static let schema = RowSchema(places, rated, byName)
        static let version: UInt32 = 2
        static var earlierVersions: [EarlierVersion<Self>] {
            [
                .migrated(1) { old, rows in
                    #expect(old.table == "notes")
                    try write(try old.key(String.self), try old.row(Int.self), &rows)
                }
            ]
        }
        static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {
            if let old = try rows.get(key, in: places) {
                try rows.remove(KeyPair(old, key), from: rated)
            }
            if let stars {
                try rows.put(Row(stars: stars), at: KeyPair(stars, key), in: rated)
                try rows.put(stars, at: key, in: places)
            } else {
                try rows.remove(key, from: places)
            }
        }
    }

    // MARK: The property

    /// The property: at the base and at the end, a new version on the compacted log has what it has on the
    /// whole log.
    private func check<Old: EventFold, New: EventFold>(
        _ old: Old.Type, _ new: New.Type, seed: UInt64
    ) async throws where Old.Event == Note, New.Event == Note {
        let (whole, log) = (directory.url.appending(path: "whole"), directory.log)
        try? FileManager.default.removeItem(at: whole)
        try? FileManager.default.removeItem(at: log)
        var random = SeededGenerator(seed: seed)
        func open<P: EventFold>(_: P.Type, _ url: URL) async throws -> Store<P>
        where P.Event == Note {
            try await Store.open(
                at: url, P.self, confirmedBy: .downlink, durability: .relaxed,
                checkpoints: .manual, replica: .exactly(ReplicaID("me")!), sources: .counting())
        }
        func write<P: EventFold>(_ store: Store<P>, _ positions: ClosedRange<UInt64>) async throws
        where P.Event == Note {
            for position in positions {
                let key = String("abcdef".randomElement(using: &random)!)
                let note: Note =
                    Int.random(in: 0..<3, using: &random) == 0
                    ? .erased(key) : .written(key, stars: Int.random(in: 1...5, using: &random))
                if Int.random(in: 0..<8, using: &random) == 0 { try await store.record(note) }
                let event = ConfirmedEvent(position: Position(position), event: note)
                try await store.confirm([event], through: event.position)
            }
        }
        let before = try await open(Old.self, log)
        try await write(before, 1...40)
        await before.close()
        try FileManager.default.copyItem(at: log, to: whole)
        let base = try await Store.compact(
            at: log, Old.self, keeping: .entries(12), sources: .counting()
        ).base
        #expect(base >= 28)
        let (one, other) = (try await open(New.self, log), try await open(New.self, whole))
        for sequence in [base, one.status.sequence] {
            try await expectSame(one, other, at: sequence)
        }
        #expect(try await one.verify().findings == [])
        try await write(one, 41...50)
        await one.close()
        await other.close()
        // The next compaction leaves a base of the new version.
        _ = try await Store.compact(at: log, New.self, keeping: .entries(3), sources: .counting())
        let again = try await open(New.self, log)
        #expect(try await again.verify().findings == [])
        await again.close()
        let older = await error { () throws(LogError) in
            _ = try await Store.open(
                at: log, Old.self, confirmedBy: .downlink, durability: .relaxed)
        }
        guard Old.version != New.version else { return }
        guard case .needsHistory = older else {
            Issue.record("the old version opens the log: \(String(describing: older))")
            return
        }
    }

    private func expectSame<P: EventFold>(
        _ one: Store<P>, _ other: Store<P>, at sequence: LogSequence
    ) async throws where P.Event == Note {
        func expect<Q: Projection & Equatable>(_: Q.Type) async throws where Q.Event == Note {
            let (a, b) = (
                try await one.snapshot(of: Q.self, at: sequence),
                try await other.snapshot(of: Q.self, at: sequence)
            )
            #expect(a.confirmed == b.confirmed && a.view == b.view)
        }
        func value<Q: NoteValue>(_: Q.Type) async throws { try await expect(Q.self) }
        func rows<Q: NoteRows>(_: Q.Type) async throws { try await expect(RowsInMemory<Q>.self) }
        if let type = P.self as? any NoteValue.Type { try await value(type) }
        if let type = P.self as? any NoteRows.Type { try await rows(type) }
    }

    @Test(arguments: 1...UInt64(TestEffort.value(quick: 4, full: 100)))
    func `C6: a version that adopts or migrates has what it would fold`(seed: UInt64) async throws {
        try await check(Notes1.self, Notes2.self, seed: seed)
        try await check(Notes1.self, Notes3.self, seed: seed)
        try await check(Rows1.self, RowsIndexed.self, seed: seed)
        try await check(Rows1.self, Rows2.self, seed: seed)
    }

    // MARK: Examples

    private func makeLog<P: EventFold>(_: P.Type) async throws where P.Event == Note {
        let store = try await Store.open(
            at: directory.log, P.self, confirmedBy: .downlink, durability: .relaxed)
        for position in 1...9 {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Note.written("a", stars: position))
            try await store.confirm([event], through: event.position)
        }
        await store.close()
        _ = try await Store.compact(at: directory.log, P.self, keeping: .entries(2))
    }

    private func lack<P: EventFold>(_: P.Type) async -> [String] where P.Event == Note {
        let error = await error { () throws(LogError) in
            _ = try await Store.open(
                at: directory.log, P.self, confirmedBy: .downlink, durability: .relaxed)
        }
        guard case .needsHistory(_, let names, base: 7) = error else {
            Issue.record("\(String(describing: error))")
            return []
        }
        return names
    }

    @Test func `C6: a version that says nothing of the base's version is named, with both`()
        async throws
    {
        try await makeLog(Notes2.self)
        #expect(await lack(Notes3.self) == ["Notes version 3 (the base has version 2)"])
        let older = await lack(Notes1.self)
        #expect(older == ["Notes version 1 (the base has version 2)"])
    }

    @Test func `C6: a member that an adopting version does not read is named`() async throws {
        struct Narrow: Projection, Codable {
            private var pinned: Set<String>?
            static let name = "Notes"
            static let version: UInt32 = 2
            static var earlierVersions: [EarlierVersion<Self>] { [.adopted(1)] }
            mutating func apply(_ note: Note, _ context: EventContext) {}
        }
        try await makeLog(Notes1.self)
        let names = await lack(Narrow.self)
        #expect(
            names == ["Notes version 2 (this code does not read /stars of the state)"])
    }

    @Test func `C6: names with commas are read`() async throws {
        struct Named1: NoteRows {
            static let notes = RowTable("notes, with stars", key: String.self, row: Int.self)
            static let byStars = notes.index("by stars, many") { _, stars in stars }
            static let schema = RowSchema(byStars, notes)
            static let name = "Named"
            static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {
                if let stars { try rows.put(stars, at: key, in: notes) }
            }
        }
        struct Named2: NoteRows {
            static let schema = RowSchema(Named1.notes, Named1.byStars)
            static let name = "Named"
            static let version: UInt32 = 2
            static var earlierVersions: [EarlierVersion<Self>] { [.adopted(1)] }
            static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {
                try Named1.write(key, stars, &rows)
            }
        }
        try await makeLog(Named1.self)
        let store = try await Store.open(
            at: directory.log, Named2.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(try store.read { try $0.get("a", in: Named1.notes) } == 9)
        #expect(try store.read { try $0.get(9, by: Named1.byStars)?.key } == "a")
        await store.close()
    }

    @Test func `C6: rows whose table is gone are not adopted`() async throws {
        struct Bare: NoteRows {
            static let other = RowTable("other", key: String.self, row: Int.self)
            static let name = Rows1.name
            static let schema = RowSchema(other)
            static let version: UInt32 = 2
            static var earlierVersions: [EarlierVersion<Self>] { [.adopted(1)] }
            static func write(_ key: String, _ stars: Int?, _ rows: inout TouchedRows) throws {}
        }
        try await makeLog(Rows1.self)
        let names = await lack(Bare.self)
        #expect(
            names.first?.hasSuffix("(the schema has no table or index notes with these types)")
                == true)
    }
}

extension EarlierVersionTests.NoteRows {
    static var name: String { "NoteRows" }

    static func apply(
        _ note: EarlierVersionTests.Note, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch note {
        case .written(let key, let stars): try write(key, stars, &rows)
        case .erased(let key): try write(key, nil, &rows)
        }
    }
}
