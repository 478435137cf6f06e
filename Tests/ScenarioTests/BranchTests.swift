import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// A branch that forgets a consequence of its edit would show a state that could never have been.
@Suite struct BranchTests {
    /// The entries without one entry. An intent takes its answers and its events in batches with it.
    private static func without(
        _ gone: LogSequence, _ history: RecordedHistory<Move>
    ) -> [LogEntry<Move>] {
        var own: IntentID?
        if let entry = history.entries.first(where: { $0.sequence == gone }),
            case .intent(let intent) = entry.content
        {
            own = IntentID(replica: entry.replica, number: intent.number)
        }
        return history.entries.compactMap { entry -> LogEntry<Move>? in
            guard entry.sequence != gone else { return nil }
            switch entry.content {
            case .intent: return entry
            case .confirmed(let events, let through):
                return LogEntry(
                    sequence: entry.sequence, time: entry.time, replica: entry.replica, info: [:],
                    content: .confirmed(
                        events.filter { own == nil || $0.origin != own }, through: through))
            case .acknowledged, .changed:
                return entry.intentNumbers.first == own?.number ? nil : entry
            }
        }
    }

    /// Property: a branch without edits is the history; a branch without an entry has the other entries.
    @Test(arguments: LogKind.allCases)
    func `a branch shows what would have been`(kind: LogKind) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 7, full: 20) {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 40, using: &random).store
            let history = try store.history()
            let same = try history.branch([])
            #expect(same.history.ndjson == history.ndjson && same.leftOut == [])
            #expect(try history.divergences(of: same, in: Board.self).entries == [])
            guard let gone = history.sequences.randomElement(using: &random) else { continue }
            let branch = try history.branch([.drop(gone)])
            let left = Self.without(gone, history)
            let following = history.following(left.map { Record($0) })
            #expect(branch.history.ndjson == following.ndjson, "seed \(seed), \(gone)")
            #expect(
                Set(branch.origins.values).union(branch.leftOut) == Set(left.map(\.sequence)))
            let real = try Array(history.snapshots(of: Board.self))
            let found = try history.divergences(of: branch, in: Board.self)
            // The last entry compares the ends of both.
            let end = try branch.history.snapshot(of: Board.self)
            let isSame =
                end.view == store.view && end.confirmed == store.confirmed
                && end.conflicted == store.snapshot.conflicted
            #expect(found.end.isNone == isSame && found.end.sequence == real.last?.sequence ?? 0)
        }
    }

    /// In an object, `a=1` is a member's name like any other, and selects nothing.
    @Test func `a place that is equal again is told beside one with another name with =`()
        async throws
    {
        let store = Store.inMemory(Documents.self, confirmedBy: .acknowledgement)
        func merge(_ members: JSON) async throws {
            try await store.record(.change("post", .merge(members), nil))
        }
        try await merge(["a=1": 0])
        try await merge(["a=1": 1, "b=2": 1])
        try await merge(["a=1": 5])
        let history = try store.history()
        let found = try history.divergences(of: history.branch([.drop(2)]), in: Documents.self)
        #expect(found.entries.map(\.sequence) == [2, 3])
        let last = try #require(found.entries.last).view
        #expect(last.map(\.place.description) == ["/post/a=1"])
        #expect(last.allSatisfy { $0.old == $0.new })
        #expect(found.end.view.map(\.place.description) == ["/post/b=2"])
    }

    /// Property: the differences of all entries add up to the difference of the final states. A projection that
    /// names the touched places leads to the same differences as a projection that does not.
    @Test(arguments: LogKind.allCases)
    func `the differences of all entries add up to the final difference`(kind: LogKind) async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 4, full: 10) {
            var random = SeededGenerator(seed: seed)
            let history = try await Self.documents(kind, using: &random)
            guard let gone = history.sequences.randomElement(using: &random) else { continue }
            let branch = try history.branch([.drop(gone)])
            let found = try history.divergences(of: branch, in: Documents.self)
            #expect(
                try found == history.divergences(of: branch, in: WholeDocuments.self),
                "seed \(seed)")
            var differing: [JSONPointer: JSONDifference] = [:]
            for difference in found.entries.flatMap(\.view) {
                differing[difference.place] = difference.old == difference.new ? nil : difference
            }
            let end = try history.snapshot(of: Documents.self).view.json
                .differences(to: branch.history.snapshot(of: Documents.self).view.json)
            #expect(end == found.end.view, "seed \(seed)")
            // If a document was created or deleted, the differences within it have no place.
            for difference in end { #expect(differing[difference.place] == difference) }
        }
    }

    /// Property: what differs without each intent is what a branch without its entry finds.
    @Test(arguments: LogKind.allCases)
    func `the differences without each intent are those of branches`(kind: LogKind) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 3, full: 30) {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 40, using: &random).store
            try Self.compareAbsences(in: store.history(), Board.self, "seed \(seed)")
            let shared = try await RandomHistory.ofAnything(
                kind, steps: 20, isShared: true, using: &random
            ).store
            try Self.compareAbsences(
                in: shared.history(), Board.self, also: [AdditionalProjection(SloppyBoard.self)],
                "shared, seed \(seed)")
            try await Self.compareAbsences(
                in: Self.documents(kind, using: &random), Documents.self, "documents, seed \(seed)")
        }
    }

    private static func compareAbsences<P: Projection>(
        in history: RecordedHistory<P.Event>, _: P.Type,
        also: [AdditionalProjection<P.Event>] = [], _ note: Comment
    ) throws {
        var intents: [IntentNumber: LogSequence] = [:]
        for entry in history.entries {
            if case .intent(let intent) = entry.content { intents[intent.number] = entry.sequence }
        }
        let found = try history.divergences(
            withoutEachOf: Set(intents.keys), in: P.self, also: also)
        #expect(found.count == intents.count, note)
        // With fewer steps, there are fewer answers, and they are the same.
        let some = try history.divergences(
            withoutEachOf: Set(intents.keys), in: P.self, also: also, stepsMax: 20)
        #expect(intents.count < 8 || some.count < found.count, note)
        #expect(some.allSatisfy { found[$0.key] == $0.value }, note)
        for (number, sequence) in intents {
            let branch = try history.branch([.drop(sequence)])
            let expected = try history.divergences(of: branch, in: P.self, also: also)
            #expect(found[number]?.entries == expected.entries, "\(note), intent \(number)")
            // The sequence is that of the entry with which the search ended.
            let end = found[number]?.end
            #expect(end?.view == expected.end.view, "\(note), intent \(number)")
            #expect(end?.confirmed == expected.end.confirmed, "\(note), intent \(number)")
            #expect(end?.conflicts == expected.end.conflicts, "\(note), intent \(number)")
        }
    }

    /// Property: a search in the touched places finds the same as a search in the whole state.
    @Test(arguments: LogKind.allCases)
    func `a search in touched places finds every cause and break`(kind: LogKind) async throws {
        let place = JSONPointer(["a", "n"])
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 7, full: 20) {
            var random = SeededGenerator(seed: seed)
            let history = try await Self.documents(kind, using: &random)
            let reader = try LogReader(history)
            let found = try reader.causes(of: place, in: Documents.self)
            var (view, confirmed): (JSON?, JSON?) = (nil, nil)
            var expected: [LogSequence: [JSON?]] = [:]
            for snapshot in try history.snapshots(of: Documents.self) {
                let new = (snapshot.view["a"]?["n"], snapshot.confirmed["a"]?["n"])
                if new != (view, confirmed) { expected[snapshot.sequence] = [new.0, new.1] }
                (view, confirmed) = new
            }
            let seen = found.map { ($0.entry.sequence, [$0.view.new, $0.confirmed.new]) }
            #expect(Dictionary(uniqueKeysWithValues: seen) == expected, "seed \(seed)")
            let expectation = try StateExpectation("/a/n < 9")
            let broken = try reader.firstBreak(of: expectation, in: Documents.self)
            let naive = try history.snapshots(of: Documents.self).first {
                !expectation.holds(of: $0.view)
            }
            #expect(broken?.after.sequence == naive?.sequence, "seed \(seed)")
        }
    }

    /// ``Documents`` without `places(touchedBy:)`.
    struct WholeDocuments: Projection, CustomReflectable {
        var documents = Documents()
        static var codec: any EventCodec<DocumentEvent> { Documents.codec }

        mutating func apply(_ event: DocumentEvent, _ context: EventContext) throws {
            try documents.apply(event, context)
        }

        var customMirror: Mirror {
            let pairs = documents.byKey.map { ($0.key.string, $0.value) }
            return Mirror(reflecting: Dictionary(uniqueKeysWithValues: pairs))
        }
    }

    /// Changes of a few documents with many kinds of answers.
    private static func documents(
        _ kind: LogKind, using random: inout SeededGenerator
    ) async throws -> RecordedHistory<DocumentEvent> {
        let store = Store.inMemory(
            Documents.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
        for _ in 0..<40 {
            let key = ExactString(["a", "b", "c", "f", "g"].randomElement(using: &random)!)
            let event: DocumentEvent =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .set(key, ["n": .integer(Int64.random(in: 0...9, using: &random))])
                case 1: .increment(key, field: "n", by: .integer(1))
                case 2: .delete(key)
                default: .all([.merge(key, ["m": true]), .set("d", [1, "x"])])
                }
            _ = try await store.record(event, force: true)
            guard let number = store.snapshot.pending.randomElement(using: &random) else {
                continue
            }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try await store.reject(number, message: "no")
            case 1: _ = try await store.acknowledge(number)
            case 2 where kind == .downlink:
                // An own intent or an unknown intent, with the server's event.
                let isOwn = Bool.random(using: &random)
                let origin = IntentID(replica: store.status.replica, number: number)
                try await store.confirm([
                    ConfirmedEvent(
                        position: store.snapshot.through.next,
                        event: isOwn ? event : .set("a", ["n": 7]), origin: isOwn ? origin : nil)
                ])
            default: break
            }
        }
        return try store.history()
    }

    // MARK: Examples

    @Test func `a branch can have edits of every kind`() async throws {
        let history = try await ReplayTests.history()
        func cells(_ edits: HistoryEdit<Move>...) throws -> [String: Int] {
            try history.branch(edits).history.snapshot(of: Board.self).view.cells
        }
        let event = try LoggedEvent(Move.set("post", 40), writtenBy: MoveCodec())
        let draft = try #require(history.snapshot(of: Board.self).view.cells["draft"])
        #expect(try cells() == ["post": 5, "draft": draft])
        #expect(try cells(.edit(1, event))["post"] == 45)
        #expect(try cells(.record(event, after: 5))["post"] == 40)
        #expect(try cells(.record(event, after: 0))["post"] == 45)
        #expect(try cells(.reject(1, Rejection(message: "no")))["post"] == nil)
        #expect(try cells(.acknowledge(2))["draft"] != draft)
        // The first claim gets the cell.
        let swapped = try history.branch([.swap(3, 4)])
        #expect(swapped.intents[2] == 3 && swapped.intents[3] == 2)
        #expect(try swapped.history.snapshot(of: Board.self, at: 4).conflicted == [3])
        #expect(try swapped.history.snapshot(of: Board.self).conflicted == [])
        #expect(throws: HistoryError.self) { try history.branch([.drop(77)]) }
        // An edit cannot name a new intent.
        #expect(throws: HistoryError.self) {
            try history.branch([.record(event, after: 0), .reject(0, Rejection(message: ""))])
        }
        #expect(throws: HistoryError.self) { try history.branch([.edit(77, event)]) }
    }

    @Test func `an edit of an entry that never existed or is gone reports which`() async throws {
        let history = try await ReplayTests.history()
        let event = try LoggedEvent(Move.set("post", 40), writtenBy: MoveCodec())
        func reason(
            _ history: RecordedHistory<Move>, _ edits: HistoryEdit<Move>...
        ) -> String? {
            let error = #expect(throws: HistoryError.self) { try history.branch(edits) }
            guard case .invalidEdit(let reason) = error else { return error?.description }
            return reason
        }
        #expect(
            reason(history, .drop(1), .drop(1))
                == "entry 1 was taken out by another edit already")
        #expect(
            reason(history, .drop(1), .edit(1, event))
                == "intent 1 was taken out by another edit already")
        #expect(
            reason(history, .drop(1), .record(event, after: 1))
                == "entry 1 was taken out by another edit already")
        #expect(reason(history, .drop(0)) == "entry 0 is not in this history")
        #expect(reason(history, .drop(77))?.contains("the last is") == true)
        #expect(reason(history, .edit(77, event))?.contains("was ever recorded") == true)
        let holed = try history.branch([.drop(1)]).history
        #expect(reason(holed, .drop(1)) == "entry 1 is not in this history")
        #expect(
            reason(holed, .reject(1, Rejection(message: "no"))) == "intent 1 is not in this history"
        )
    }

    /// Without the intent, what undoes it does not lapse when the intent is refused.
    @Test func `an intent makes a difference while what undoes it can lapse`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        for value in 1...3 { try await store.record(.set("a", value)) }
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 10))
        _ = try await store.recordAttempts([2: attempt], flushes: false)
        #expect(try await store.undo(2).recorded.map(\.number) == [4])
        try await store.reject(2, message: "no")
        #expect(store.view.cells == ["a": 3] && store.snapshot.pending == [1, 3])
        try Self.compareAbsences(in: store.history(), Board.self, "lapsed")
    }

    @Test func `a retry of an intent that is not rejected becomes a plain intent`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        _ = try await store.record(.set("a", 1))
        try await store.reject(1, message: "no")
        _ = try await store.retry(1)
        let history = try store.history()
        let edits: [HistoryEdit<Move>] = [.acknowledge(1), .drop(1), .drop(2)]
        for edit in edits {
            let branch = try history.branch([edit])
            #expect(branch.retryingNothing == [2] && branch.leftOut == [], "\(edit)")
            guard case .intent(let intent) = branch.history.entries.last?.content,
                intent.number == 2
            else {
                Issue.record("\(branch.history.entries)")
                return
            }
            #expect(intent.retries == nil)
        }
        #expect(try history.branch([]).retryingNothing == [])
    }

    @Test func `swapped entries take each other's places, and all others keep theirs`()
        async throws
    {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        for key in ["a", "b", "c", "d"] { _ = try await store.record(.set(key, 1)) }
        let history = try store.history()
        let branch = try history.branch([.swap(1, 3)])
        #expect(branch.history.sequences == history.sequences)
        #expect(branch.intents == [1: 3, 2: 2, 3: 1, 4: 4])
        let found = try history.divergences(of: branch, in: Board.self)
        #expect(found.entries.map(\.sequence) == [1, 3])
        #expect(
            found.entries.map {
                $0.view.map { "\($0.place) \($0.old == nil ? "+" : $0.new == nil ? "-" : "=")" }
            }
                == [["/cells/a -", "/cells/c +"], ["/cells/a =", "/cells/c ="]])
        #expect(found.end.isNone)
    }

    @Test func `swapped and changed answers keep their places`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 1))
        try await store.acknowledge(1)
        try await store.acknowledge(2)
        _ = try await store.record(.set("c", 1))
        let history = try store.history()
        for number in [1, 2] as [IntentNumber] {
            let branch = try history.branch([
                .swap(3, 4), .reject(number, Rejection(message: "no")),
            ])
            #expect(branch.history.sequences == history.sequences)
            let found = try history.divergences(of: branch, in: Board.self)
            #expect(found.entries.first?.sequence == 3)
            #expect(
                found.end.view.map(\.place.description) == ["/cells/\(number == 1 ? "a" : "b")"])
        }
        // An intent at the place of an answer changes only the numbers of intents whose order changed.
        let moved = try history.branch([.swap(2, 3)])
        #expect(moved.intents == [1: 1, 2: 2, 3: 3] && moved.history.sequences == [1, 2, 3, 4, 5])
    }

    /// Two intents of this replica. A batch confirms the first, and an intent of another replica.
    private static func downlink() async throws -> RecordedHistory<Move> {
        let me = try #require(ReplicaID("me"))
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: me, sources: .counting())
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 2))
        let other = try #require(ReplicaID("other"))
        try await store.confirm([
            ConfirmedEvent(
                position: 1, event: .set("a", 1), origin: IntentID(replica: me, number: 1)),
            ConfirmedEvent(
                position: 2, event: .set("c", 3), origin: IntentID(replica: other, number: 1)),
        ])
        return try store.history()
    }

    @Test func `an event of a batch goes with its intent, and stays if the intent is acknowledged`()
        async throws
    {
        let history = try await Self.downlink()
        func end(_ edit: HistoryEdit<Move>) throws -> Snapshot<Board> {
            try history.branch([edit]).history.snapshot(of: Board.self)
        }
        #expect(try end(.drop(1)).view.cells == ["b": 2, "c": 3])
        #expect(try end(.reject(1, Rejection(message: "no"))).confirmed.cells == ["c": 3])
        let same = try end(.acknowledge(1))
        #expect(same.confirmed.cells == ["a": 1, "c": 3] && same.pending == [2])
        let accepted = try end(.acknowledge(2))
        #expect(accepted.accepted == [2] && accepted.view.cells == ["a": 1, "b": 2, "c": 3])
    }

    /// A batch may name the number of a removed intent. The next intent must not get that number.
    @Test func `closing gaps gives no intent the events of another intent`()
        async throws
    {
        let history = try await Self.downlink()
        let holed = history.following(history.records.filter { $0.stamp.sequence != 1 })
        #expect(holed.sequences == [2, 3])
        let reader = try LogReader(RecordedHistory<[UInt8]>(ndjson: holed.ndjson))
        let end = try reader.snapshot(of: Board.self, at: 3)
        #expect(end.confirmed.cells == ["a": 1, "c": 3] && end.pending == [2])
        #expect(try reader.snapshot(of: Board.self, at: 1).sequence == 0)
        #expect(try reader.entries(from: 1, countMax: 9).map(\.sequence) == [2, 3])
        #expect(try reader.states()(2) == .pending && reader.states()(1) == nil)
        #expect(throws: LogError.self) { try reader.snapshot(of: Board.self, at: 4) }
        #expect(try reader.history().ndjson == holed.ndjson)
        let closed = try holed.closed()
        #expect(closed.sequences == [1, 2])
        let same = try closed.snapshot(of: Board.self)
        #expect(same.confirmed.cells == end.confirmed.cells && same.pending == [1])
    }

    @Test
    func `a new intent moves the later numbers without a conflict`()
        async throws
    {
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.claim("a"), force: true)
        let history = try store.history()
        #expect(store.snapshot.conflicted == [2])
        let event = try LoggedEvent(Move.set("z", 9), writtenBy: MoveCodec())
        let branch = try history.branch([.record(event, after: 1)])
        #expect(branch.inserted == [2] && branch.intents == [1: 1, 3: 2])
        let found = try history.divergences(of: branch, in: Board.self)
        #expect(found.entries.flatMap(\.view).map(\.place.description) == ["/cells/z"])
        #expect(found.entries.allSatisfy { $0.conflicts.isEmpty && $0.conflictsEnded.isEmpty })
    }
}
