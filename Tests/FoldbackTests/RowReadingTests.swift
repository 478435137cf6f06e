import Foldback
import Foundation
import TestSupport
import Testing

/// Failure: if the overlay has rows between the confirmed rows, a page begins at the wrong row or
/// shows a row twice.
///
/// Property: for every range, order, limit, and place, a page has the same rows as a sort of all
/// rows. This holds on disk and in memory.
@Suite struct RowReadingTests {
    private struct Visible {
        var confirmed: [String: Int] = [:]
        var view: [String: Int] = [:]
    }

    private static func seed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["ROW_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0...UInt64.max / 2)
        print("rows: seed \(seed) (to repeat: ROW_SEED=\(seed))")
        return seed
    }

    private static let names = (0..<30).map { "k\($0 % 10)\($0 / 10)" } + ["", "\u{0}", "é"]

    private static func fill(
        _ store: Store<RowBoard>, _ random: inout SeededGenerator
    ) async throws -> Visible {
        var visible = Visible()
        var events: [ConfirmedEvent<Move>] = []
        for position in 1...20 {
            let (key, value) = (
                names.randomElement(using: &random)!, Int.random(in: 0...9, using: &random)
            )
            visible.confirmed[key] = value
            events.append(
                ConfirmedEvent(
                    position: Position(UInt64(position)), event: .set(key, value), origin: nil))
        }
        try await store.confirm(events)
        visible.view = visible.confirmed
        for _ in 0..<12 {
            let key = names.randomElement(using: &random)!
            if random.oneIn(3) {
                visible.view[key] = nil
                _ = try await store.record(.remove(key))
            } else {
                let value = Int.random(in: 0...9, using: &random)
                visible.view[key] = value
                _ = try await store.record(.set(key, value))
            }
        }
        return visible
    }

    @Test(arguments: Engine.allCases)
    func `a page has the same rows as a sort of all rows`(engine: Engine) async throws {
        let first = Self.seed()
        for seed in first..<first + 12 {
            var random = SeededGenerator(seed: seed)
            let directory = TemporaryDirectory()
            let store = try await engine.store(RowBoard.self, .downlink, in: directory)
            let visible = try await Self.fill(store, &random)
            for _ in 0..<60 {
                let query = Query(&random, Self.names)
                try store.read { rows in
                    try query.check(rows, visible.view, "seed \(seed)")
                    try rows.confirmed { try query.check($0, visible.confirmed, "seed \(seed)") }
                }
            }
            await store.close()
        }
    }

    private struct Query: Sendable {
        private enum Kind: CaseIterable { case between, after, beginning }
        private let kind: Kind
        let low: String?
        let high: String?
        let throughHigh: Bool
        let order: RowOrder
        let after: String?
        let limit: Int

        init(_ random: inout SeededGenerator, _ names: [String]) {
            kind = random.oneIn(2) ? .between : Kind.allCases.randomElement(using: &random)!
            low = random.oneIn(3) ? nil : names.randomElement(using: &random)
            high = random.oneIn(3) ? nil : names.randomElement(using: &random)
            throughHigh = random.oneIn(2)
            order = random.oneIn(2) ? .ascending : .descending
            after = random.oneIn(2) ? nil : names.randomElement(using: &random)
            limit = Int.random(in: 0...8, using: &random)
        }

        private var range: RowRange<String> {
            switch (kind, low, high) {
            case (.after, let low, _): .keys(after: low ?? "")
            case (.beginning, let low, _): .beginning(with: prefix(low))
            case (_, nil, nil): .all
            case (_, let low?, nil): .keys(from: low)
            case (_, nil, let high?): throughHigh ? .keys(through: high) : .keys(upTo: high)
            case (_, let low?, let high?):
                throughHigh
                    ? .keys(from: low, through: high) : .keys(from: low, upTo: high)
            }
        }

        /// Returns at most two letters, so that several keys begin with them.
        private func prefix(_ key: String?) -> String { String(key?.prefix(2) ?? "") }

        private func isWithin(_ key: String) -> Bool {
            let key = ExactString(key)
            switch kind {
            case .after: return key > ExactString(low ?? "")
            case .beginning: return key.string.utf8.starts(with: prefix(low).utf8)
            case .between: break
            }
            if let low, key < ExactString(low) { return false }
            guard let high else { return true }
            return throughHigh ? key <= ExactString(high) : key < ExactString(high)
        }

        func check(
            _ rows: borrowing RowReader<RowBoard>, _ all: [String: Int], _ seed: String
        ) throws {
            let within = all.filter { isWithin($0.key) }
                .sorted { ExactString($0.key) < ExactString($1.key) }
            let ordered = order == .ascending ? within : within.reversed()
            let remaining = ordered.filter { entry in
                guard let after else { return true }
                return order == .ascending
                    ? ExactString(entry.key) > ExactString(after)
                    : ExactString(entry.key) < ExactString(after)
            }
            let page = try rows.page(
                of: RowBoard.cells, in: range, order: order, after: after, limit: limit)
            try #require(
                page.map(\.key) == remaining.prefix(limit).map(\.key)
                    && page.map(\.row) == remaining.prefix(limit).map(\.value),
                "\(seed), \(self): \(page), not \(remaining.prefix(limit))")
            try #require(try rows.count(of: RowBoard.cells, in: range) == within.count, "\(seed)")
            for (key, value) in all {
                try #require(try rows.get(key, in: RowBoard.cells) == value, "\(seed), \(key)")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `pages of an index follow each other without a gap`(engine: Engine) async throws {
        let first = Self.seed()
        for seed in first..<first + 12 {
            var random = SeededGenerator(seed: seed)
            let directory = TemporaryDirectory()
            let store = try await engine.store(RowBoard.self, .downlink, in: directory)
            let visible = try await Self.fill(store, &random)
            let expected = visible.view.map { ($0.value, ExactString($0.key)) }
                .filter { (3...8).contains($0.0) }.sorted { $0 < $1 }
            for order in [RowOrder.ascending, .descending] {
                var keys: [ExactString] = []
                try store.read { rows in
                    var place: IndexPlace<Int, String>?
                    while true {
                        let page = try rows.page(
                            of: RowBoard.byValue, in: .keys(from: 3, through: 8), order: order,
                            after: place, limit: 3)
                        keys += page.map { ExactString($0.key) }
                        guard let last = page.last else { break }
                        place = last.place
                    }
                    #expect(
                        try rows.count(of: RowBoard.byValue, in: .keys(from: 3, upTo: 9))
                            == expected.count)
                }
                let sorted = order == .ascending ? expected : expected.reversed()
                #expect(keys == sorted.map(\.1), "seed \(seed)")
            }
            await store.close()
        }
    }

    @Test(arguments: Engine.allCases, [RowOrder.ascending, .descending])
    func `pages of a unique index merge confirmed rows with rows of the overlay`(
        engine: Engine, order: RowOrder
    ) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(Users.self, .acknowledgement, in: directory)
        for id in 1...12 as ClosedRange<UInt64> {
            _ = try await store.record(.set("user \(id * 7 % 13)", Int(id)))
            if id % 3 != 0 { try await store.acknowledge(IntentNumber(id)) }
        }
        _ = try await store.record(.remove("5"))
        _ = try await store.record(.set("another", 6))
        let names = (1...12).filter { $0 != 5 && $0 != 6 }.map { ("user \($0 * 7 % 13)", $0) }
        let sorted = (names + [("another", 6)]).sorted { $0 < $1 }
        let expected = order == .ascending ? sorted : sorted.reversed()
        let keys = try store.read { rows in
            var keys: [(String, Int)] = []
            while keys.count <= expected.count {
                let page = try rows.page(
                    of: Users.byName, order: order,
                    after: keys.last.map { IndexPlace($0.0, $0.1) }, limit: 4)
                if page.isEmpty { break }
                keys += page.map { ($0.indexKey, $0.key) }
                #expect(page.allSatisfy { $0.row == $0.indexKey })
            }
            return keys
        }
        #expect(keys.map(\.0) == expected.map(\.0) && keys.map(\.1) == expected.map(\.1))
        await store.close()
    }

    /// A table whose keys are pairs of a cell and a value.
    private struct Pairs: StoredProjection {
        static let pairs = RowTable("pairs", key: KeyPair<String, Int>.self, row: Int.self)
        static let schema = RowSchema(pairs)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch move {
            case .set(let key, let value): try rows.put(1, at: KeyPair(key, value), in: pairs)
            case .remove(let key): try rows.removeAll(in: .prefix(key), from: pairs)
            case .add, .claim, .replaceAll, .sweep: throw MoveConflict(reason: "unknown")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a range of pairs selects an interval, or all pairs with one first half`(
        engine: Engine
    ) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(Pairs.self, .acknowledgement, in: directory)
        var number: IntentNumber = 1
        for key in ["a", "ab", "b", "\u{0}"] {
            for value in [-300, -1, 0, 1, 300] {
                _ = try await store.record(.set(key, value))
                if value.isMultiple(of: 2) { try await store.acknowledge(number) }
                number = number.next
            }
        }
        _ = try await store.record(.remove("b"))
        func keys(in range: RowRange<KeyPair<String, Int>>) throws -> [KeyPair<String, Int>] {
            try store.read {
                try $0.page(of: Pairs.pairs, in: range, limit: .max).map(\.key)
            }
        }
        let ofA = [-300, -1, 0, 1, 300].map { KeyPair("a", $0) }
        let ofAB = ofA.map { KeyPair("ab", $0.second) }
        #expect(try keys(in: .prefix("a")) == ofA)
        #expect(try keys(in: .prefix("b")) == [])
        #expect(
            try keys(in: .keys(from: KeyPair("a", 0), upTo: KeyPair("ab", 0)))
                == ofA.suffix(3) + ofAB.prefix(2))
        #expect(
            try keys(in: .keys(from: KeyPair("a", 2), through: KeyPair("ab", 0)))
                == ofA.suffix(1) + ofAB.prefix(3))
        #expect(try keys(in: .keys(after: KeyPair("ab", -1))) == ofAB.suffix(3))
        #expect(try keys(in: .all).count == 15)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `a row has the bytes that its codec wrote, confirmed or pending`(
        engine: Engine
    ) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        _ = try await store.record(.set("confirmed", 12))
        try await store.acknowledge(1)
        _ = try await store.record(.set("pending", 345))
        func text(_ key: String) throws -> String? {
            try store.read { rows in
                try rows.withBytes(of: key, in: RowBoard.cells) { bytes in
                    bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                }
            }
        }
        #expect(try text("confirmed") == "12")
        #expect(try text("pending") == "345")
        #expect(try text("absent") == nil)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `a read sees one sequence while the store keeps writing`(engine: Engine) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(RowBoard.self, .downlink, in: directory)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var last: LogSequence = 0
                    while last < 180 {
                        try store.read { rows in
                            // The counts match the cells although the writer continues during the
                            // read.
                            let counts = try rows.page(of: RowBoard.counts, limit: .max)
                            let cells = try rows.count(of: RowBoard.cells)
                            #expect(counts.reduce(0) { $0 + $1.row } == cells)
                            #expect(rows.sequence >= last)
                            last = rows.sequence
                        }
                        await Task.yield()
                    }
                }
            }
            for step in 1...90 {
                let receipt = try await store.record(.set("k\(step % 40)", step))
                let seen = try store.read { $0.sequence }
                #expect(seen >= receipt.sequence)
                if step % 3 == 0 {
                    try await store.reject(receipt.number, message: "no")
                } else {
                    let event = ConfirmedEvent<Move>(
                        position: Position(UInt64(step)), event: .set("k\(step % 40)", step),
                        origin: receipt.id)
                    try await store.confirm([event])
                }
            }
            try await group.waitForAll()
        }
        await store.close()
        #expect(throws: LogError.self) { try store.read { _ in } }
    }
}
