import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// The question behind these tests: what happened to a user's data, and why?
@Suite struct ReplayTests {
    static func log(
        of history: RecordedHistory<Move>, in directory: TemporaryDirectory
    ) async throws -> LogReader {
        let raw = try RecordedHistory<[UInt8]>(ndjson: history.ndjson)
        #expect(raw.ndjson == history.ndjson)
        try await raw.importLog(into: directory.log)
        return try LogReader(at: directory.log)
    }

    private static func bytes(_ directory: TemporaryDirectory) throws -> Data {
        try Data(contentsOf: directory.log.appending(path: "data.mdb"))
    }

    /// Property: a history goes through a file unchanged. A log imported from it shows the same after each entry,
    /// has the same states of intents, and has another replica id. Reading it changes nothing (L9, L11).
    @Test(arguments: LogKind.allCases)
    func `a history goes through a file into a log unchanged`(kind: LogKind)
        async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 4, full: 12) {
            var random = SeededGenerator(seed: seed)
            let (store, reference) = try await RandomHistory.ofAnything(
                kind, steps: 60, using: &random)
            let directory = TemporaryDirectory()
            let reader = try await Self.log(of: try store.history(), in: directory)
            let before = try Self.bytes(directory)
            let start = try #require(UInt64(exactly: Int.random(in: 0...5, using: &random)))
            var replay = try reader.replay(
                Board.self, from: min(LogSequence(start), reader.lastSequence()))
            repeat {
                let sequence = Int(replay.snapshot.sequence.value)
                let difference = ModelTests.difference(
                    of: replay.snapshot, from: reference.board.state(at: sequence), sequence)
                try #require(difference == nil, "seed \(seed): \(difference ?? "")")
            } while try replay.next() != nil
            #expect(replay.snapshot.sequence == store.status.sequence)
            #expect(try reader.verify(Board.self).findings == [], "seed \(seed)")
            #expect(try Self.bytes(directory) == before)
            reader.close()
            let again = try await Store.open(
                at: directory.log, Board.self, confirmedBy: kind, durability: .relaxed)
            #expect(
                again.view == store.view && again.snapshot.conflicted == store.snapshot.conflicted)
            #expect(again.status.nextIntent == store.status.nextIntent)
            #expect(again.status.replica != store.status.replica)
            for number in 1..<max(1, store.status.nextIntent.value) {
                #expect(
                    try again.intent(IntentNumber(number)).state
                        == store.intent(IntentNumber(number)).state, "seed \(seed), \(number)")
            }
            await again.close()
        }
    }

    /// Property: the causes of a value are the entries after which the value in the snapshots changes.
    @Test(arguments: LogKind.allCases)
    func `a reader finds the causes of a value and the first break`(kind: LogKind) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 4, full: 12) {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 60, using: &random).store
            let history = try store.history()
            let directory = TemporaryDirectory()
            let reader = try await Self.log(of: history, in: directory)
            let key = try history.snapshots(of: Board.self).lazy.compactMap(\.view.cells.keys.first)
                .first
            guard let key else { continue }
            let place = JSONPointer(["cells", ExactString(key)])
            let causes = try reader.causes(of: place, in: Board.self)
            var (view, confirmed): (Int?, Int?) = (nil, nil)
            var expected: [LogSequence] = []
            for snapshot in try history.snapshots(of: Board.self) {
                let new = (snapshot.view.cells[key], snapshot.confirmed.cells[key])
                if new != (view, confirmed) { expected.append(snapshot.sequence) }
                (view, confirmed) = new
            }
            #expect(causes.map(\.entry.sequence) == expected, "seed \(seed)")
            #expect(causes.last?.view.new?.integerValue == view.map(Int64.init))
            let positions = Self.positionsThatChange(key, in: history)
            #expect(causes.flatMap(Self.positions) == positions, "seed \(seed)")

            let limit = Int.random(in: 0...40, using: &random)
            let isGood = { @Sendable (snapshot: Snapshot<Board>) in
                snapshot.view.cells.values.reduce(0, +) <= limit
            }
            let naive = try history.snapshots(of: Board.self).first { !isGood($0) }?.sequence
            let found = try reader.firstBreak(in: Board.self) { isGood($0) ? .good : .bad }
            #expect(found?.entry?.sequence == naive && found?.isExact ?? true, "seed \(seed)")
            let last = LogSequence(UInt64.random(in: 0...UInt64(history.count), using: &random))
            let halved = try reader.firstBreak(in: Board.self, assumingMonotone: true) {
                $0.sequence <= last ? .good : .bad
            }
            let next = last.value < UInt64(history.count) ? last.value + 1 : nil
            #expect(halved?.entry?.sequence.value == next, "seed \(seed)")
            try Self.lookWhereNobodyCanTell(reader, last.value, using: &random)
            reader.close()
        }
    }

    /// The positions of the events that a cause names.
    private static func positions(_ cause: Cause<Move>) -> [Position] {
        guard case .confirmed(let events, _) = cause.entry.content else { return [] }
        return cause.events.map { events[$0].position }
    }

    /// Folds the batches of a history event by event, and returns the positions at which the value
    /// of a cell changes.
    private static func positionsThatChange(
        _ key: String, in history: RecordedHistory<Move>
    ) -> [Position] {
        var board = Board()
        var last: Position = 0
        var found: [Position] = []
        for entry in history.entries {
            guard case .confirmed(let events, let through) = entry.content else { continue }
            var new = events.filter { $0.position > last }
            new.sort { $0.position < $1.position }  // The sort of the standard library is stable.
            let (before, foundBefore) = (board.cells[key], found)
            for event in new {
                guard let move = event.event.event else { continue }
                var next = board
                let origin = event.origin.map(EventContext.Origin.intent)
                let context = EventContext(origin ?? .position(event.position))
                do { try next.apply(move, context) } catch { continue }
                if next.cells[key] != board.cells[key] { found.append(event.position) }
                board = next
            }
            last = max(last, through)
            // A batch that brings the value back is not a cause.
            if board.cells[key] == before { found = foundBefore }
        }
        return found
    }

    /// Property: the states up to `last` are good, the later states are bad, and some of both are inconclusive. The
    /// search finds the first conclusive bad state and the inconclusive states directly before it.
    private static func lookWhereNobodyCanTell(
        _ reader: LogReader, _ last: UInt64, using random: inout SeededGenerator
    ) throws {
        let end = try reader.lastSequence().value
        let inconclusive = Set((0...end).filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
        let told = (0...end).filter { !inconclusive.contains($0) }
        let bad = told.first { $0 > last }
        let good = told.last { $0 <= last }
        for isMonotone in [false, true] {
            let found = try reader.firstBreak(in: Board.self, assumingMonotone: isMonotone) {
                inconclusive.contains($0.sequence.value)
                    ? .inconclusive : $0.sequence.value <= last ? .good : .bad
            }
            #expect(found?.after.sequence.value == bad)
            guard let found, let bad else { continue }
            #expect(found.entry?.sequence.value == (bad == 0 ? nil : bad))
            #expect(found.before?.sequence.value == good)
            let between = inconclusive.filter {
                $0 < bad && $0 > good ?? 0 || good == nil && $0 < bad
            }
            let places = found.inconclusive.map(\.value)
            #expect(isMonotone ? Set(places).isSubset(of: between) : places == between.sorted())
        }
    }

    // MARK: Examples

    /// Likes of a post. The server refuses one of them while another depends on it.
    static func history() async throws -> RecordedHistory<Move> {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        _ = try await store.record(.set("post", 0))
        try await store.acknowledge(1)
        _ = try await store.record(.claim("draft"))
        _ = try await store.record(.claim("draft"), force: true)
        _ = try await store.record(.add("post", 5))
        try await store.reject(2, code: "forbidden", message: "no drafts")
        return try store.history()
    }

    @Test func `a story has the answers of an intent and the changes of its effect`()
        async throws
    {
        let directory = TemporaryDirectory()
        let reader = try await Self.log(of: try await Self.history(), in: directory)
        let story = try reader.story(of: 2, in: Board.self)
        #expect(story.state == .rejected && story.chapters.map(\.entry.sequence) == [3, 6])
        let rejection = try #require(story.chapters.last)
        guard case .changed(2, .rejected(let why)) = rejection.entry.content else {
            Issue.record("\(rejection.entry)")
            return
        }
        #expect(why.code == "forbidden")
        #expect(rejection.changes.map(\.place.description) == ["/cells/draft"])
        // The other claim had no effect until it was alone.
        let other = try reader.story(of: 3, in: Board.self)
        #expect(other.chapters.map(\.entry.sequence) == [4, 6])
        #expect(other.chapters.map { $0.conflict != nil } == [true, false])
        #expect(rejection.others.map(\.number) == [3])
        guard case .conflicted = rejection.others[0].old, case .changes = rejection.others[0].new
        else {
            Issue.record("\(rejection.others)")
            return
        }
        #expect(throws: LogError.self) { try reader.story(of: 9, in: Board.self) }
        reader.close()
    }

    @Test func `a reader shows rows as tables by key`() async throws {
        let directory = TemporaryDirectory()
        let reader = try await Self.log(of: try await Self.history(), in: directory)
        let place = try #require(JSONPointer("/cells/post"))
        let rows = try reader.causes(of: place, in: RowsInMemory<RowBoard>.self)
        let values = try reader.causes(of: place, in: Board.self)
        #expect(rows.map(\.entry.sequence) == values.map(\.entry.sequence))
        #expect(rows.map(\.view).elementsEqual(values.map(\.view)) { $0.new == $1.new })
        let end = try reader.snapshot(of: RowsInMemory<RowBoard>.self, at: 6)
        #expect(JSON(describing: end.view)[at: place] == 5 && end.conflicted == [])
        reader.close()
    }

    @Test func `a reader compares two versions of a projection`() async throws {
        let directory = TemporaryDirectory()
        let reader = try await Self.log(of: try await Self.history(), in: directory)
        let same = try reader.rerun(Board.self, Board.self)
        #expect(same.compatibility == .fine && same.divergences == [] && same.entryCount == 6)
        let strict = try reader.rerun(Board.self, StrictBoard.self)
        guard case .risky(_, 1) = strict.compatibility else {
            Issue.record("\(strict.compatibility)")
            return
        }
        #expect(strict.divergences.first?.sequence == 1)
        let lost = try reader.rerun(Board.self, Documents.self)
        guard case .impossible(_, 1) = lost.compatibility else {
            Issue.record("\(lost.compatibility)")
            return
        }
        // An event that neither version reads is a difference too.
        let foreign = try reader.rerun(Documents.self, Documents.self)
        guard case .risky(let what, 1) = foreign.compatibility, what.contains("either version")
        else {
            Issue.record("\(foreign.compatibility)")
            return
        }
        reader.close()
    }

    /// A ``Board`` that refuses zero.
    private struct StrictBoard: Projection {
        var cells: [String: Int] = [:]
        static var codec: any EventCodec<Move> { MoveCodec() }

        mutating func apply(_ move: Move, _ context: EventContext) throws {
            if case .set(_, 0) = move { throw MoveConflict(reason: "zero") }
            var board = Board()
            board.cells = cells
            try board.apply(move, context)
            cells = board.cells
        }
    }

    @Test
    func `an error names the line of a file that is not a history, and a log with entries stays`()
        async throws
    {
        let history = try await Self.history()
        var lines = history.ndjson.split(separator: "\n").map(String.init)
        let wide = String(repeating: "w", count: 2_000)
        for (line, text, place) in [
            (0, "{}", 1), (0, #"{"foldback":2,"kind":"downlink","replica":"me"}"#, 1),
            (2, "{", 3), (3, #"{"kind":"what"}"#, 4), (2, lines[1], 3),
            (1, lines[1].replacing("\"kind\"", with: "\"once\":5,\"kind\""), 2),
            (1, lines[1].replacing("\"kind\"", with: "\"confirmOnly\":\"yes\",\"kind\""), 2),
            (1, lines[1].replacing("\"kind\"", with: "\"info\":[1],\"kind\""), 2),
            (1, lines[1].replacing("\"kind\"", with: "\"info\":{\"a\":\"\(wide)\"},\"kind\""), 2),
            (1, lines[1].replacing("\"kind\"", with: "\"once\":\"\(wide)\",\"kind\""), 2),
            (6, lines[6].replacing("\"forbidden\"", with: "5"), 7),
            (6, lines[6].replacing("\"no drafts\"", with: "null"), 7),
            (3, "\n\n{", 6),
            (6, lines[6].replacing("\"sequence\":6", with: "\"sequence\":\(UInt64.max)"), 7),
        ] {
            var broken = lines
            broken[line] = text
            let error = #expect(throws: HistoryFileError.self) {
                try RecordedHistory(ndjson: broken.joined(separator: "\n"))
            }
            #expect(error?.line == place, "\(text)")
        }
        let directory = TemporaryDirectory()
        (try await Self.log(of: history, in: directory)).close()
        let raw = try RecordedHistory(ndjson: history.ndjson)
        await #expect(throws: HistoryError.self) {
            try await raw.importLog(into: directory.log)
        }
        lines.remove(at: 4)
        let holed = try RecordedHistory(ndjson: lines.joined(separator: "\n"))
        let other = TemporaryDirectory()
        await #expect(throws: HistoryError.self) {
            try await holed.importLog(into: other.log)
        }
        try await holed.closed().importLog(into: other.log)
        #expect(try LogReader(at: other.log).verify(Board.self).findings == [])
    }

    @Test func `an element of an array is followed by its id`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed)
        func set(_ elements: (id: JSON, text: String)...) async throws {
            let list = elements.map { one -> JSON in
                ["id": one.id, "text": .string(ExactString(one.text))]
            }
            try await store.record(.change("post", .set(["comments": .array(list)]), nil))
        }
        try await set((id: "a", text: "one"))
        try await set((id: 7, text: "first"), (id: "a", text: "one"))
        try await set((id: 7, text: "first"), (id: "a", text: "two"))
        try await set((id: 7, text: "first"))
        await store.close()
        let reader = try LogReader(at: directory.log)
        func entries(_ place: String) throws -> [LogSequence] {
            try reader.causes(of: #require(JSONPointer(place)), in: Documents.self)
                .map(\.entry.sequence)
        }
        #expect(try entries("/post/comments/id=a") == [1, 3, 4])
        #expect(try entries("/post/comments/id=a/text") == [1, 3, 4])
        #expect(try entries("/post/comments/id=7") == [2])
        // The index is a place in the array, whatever stands there.
        #expect(try entries("/post/comments/0") == [1, 2])
        reader.close()
    }

    @Test func `a name with = selects an element of an array, and is a member's name elsewhere`()
        throws
    {
        let json: JSON = [
            "list": [1, ["id": "a=b", "n": 1], ["id": "a=b", "n": 2], ["n": 3, "id": 5]],
            "id=5": "member",
        ]
        #expect(json[at: try #require(JSONPointer("/list/id=a=b/n"))] == 1)
        #expect(json[at: try #require(JSONPointer("/list/n=2/id"))] == "a=b")
        #expect(json[at: try #require(JSONPointer("/list/id=5/n"))] == 3)
        #expect(json[at: try #require(JSONPointer("/list/id=c"))] == nil)
        #expect(json[at: try #require(JSONPointer("/id=5"))] == "member")
    }

    @Test func `JSON pointers follow RFC 6901`() throws {
        let json: JSON = ["a/b": [1, ["~": "x"]], "": true]
        #expect(json[at: try #require(JSONPointer("/a~1b/1/~0"))] == "x")
        #expect(json[at: try #require(JSONPointer("/"))] == true)
        #expect(json[at: try #require(JSONPointer(""))] == json)
        #expect(json[at: try #require(JSONPointer("/a~1b/01"))] == nil)
        #expect(JSONPointer("a") == nil && JSONPointer("/~2") == nil)
        #expect(try #require(JSONPointer("/a~1b/~0")).description == "/a~1b/~0")
        let other: JSON = ["a/b": [1, ["~": "y"], 3]]
        #expect(
            json.differences(to: other).map(\.place.description)
                == ["/", "/a~1b/1/~0", "/a~1b/2"])
    }

    @Test func `a pointer finds values that JSON describes as text`() throws {
        struct Odd: CustomReflectable {
            var customMirror: Mirror {
                Mirror(self, children: [(label: "one", value: 1 as Any)], displayStyle: .dictionary)
            }
        }
        struct State {
            var odd = Odd()
            var numbers = [1: Double.infinity, 2: Double.nan]
            var names = ["e\u{301}": 1, "a": 2]
            var ids = ["6F9619FF-8B86-D011-B42D-00CF4FC964FF": "x"]
                .reduce(into: [UUID: String]()) { $0[UUID(uuidString: $1.key)!] = $1.value }
            var small: [Int8: Bool] = [-1: true]
            var big = Position(UInt64.max)
            var inner: [String: [String: Int]]? = ["a": ["b": 3]]
        }
        let json = JSON(describing: State())
        #expect(json["numbers"] == ["1": "inf", "2": "nan"] && json["odd"] == ["one": 1])
        #expect(json["big"]?.description == "18446744073709551615")
        for text in [
            "/names/a", "/names/e\u{301}", "/names/\u{e9}", "/inner/a/b", "/inner/a/c",
            "/numbers/1",
            "/numbers/01", "/numbers/+1", "/numbers/none", "/small/-1", "/small/300",
            "/ids/6F9619FF-8B86-D011-B42D-00CF4FC964FF",
            "/ids/6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            "/ids/none", "/odd/one", "/inner", "", "/nothing",
        ] {
            let place = try #require(JSONPointer(text))
            #expect(JSON.described(State(), at: place) == json[at: place], "\(text)")
        }
    }
}
