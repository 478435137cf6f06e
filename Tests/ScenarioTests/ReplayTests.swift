import Foldback
import Foundation
import TestSupport
import Testing

/// Born from the question what happened to this user's data, and why.
@Suite struct ReplayTests {
    private static func log(
        of history: RecordedHistory<Move>, in directory: TemporaryDirectory
    ) async throws -> LogReader {
        let raw = try RecordedHistory<[UInt8]>(ndjson: history.ndjson)
        #expect(raw.ndjson == history.ndjson)
        try await Foldback.importHistory(raw, into: directory.log)
        return try LogReader(at: directory.log)
    }

    private static func bytes(_ directory: TemporaryDirectory) throws -> Data {
        try Data(contentsOf: directory.log.appending(path: "data.mdb"))
    }

    /// Property: a file gives the history back, a log made of it shows what the first one showed behind each
    /// entry, knows every intent's state, and records under another name; looking changes nothing (L9, L11).
    @Test(arguments: LogKind.allCases)
    func `a history goes through a file into a log, and is the same there`(kind: LogKind)
        async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + 12 {
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
                    of: replay.snapshot, from: reference.state(at: sequence), sequence)
                try #require(difference == nil, "seed \(seed): \(difference ?? "")")
            } while try replay.next() != nil
            #expect(replay.snapshot.sequence == store.status.sequence)
            #expect(try reader.verify(Board.self).findings == [], "seed \(seed)")
            #expect(try Self.bytes(directory) == before)
            reader.close()
            let again = try await Foldback.open(
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

    /// Property: the causes of a value are those entries behind which a naive look finds another one.
    @Test(arguments: LogKind.allCases)
    func `what made a value what it is, and where something broke first`(kind: LogKind) async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + 12 {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 60, using: &random).store
            let history = try store.history()
            let directory = TemporaryDirectory()
            let reader = try await Self.log(of: history, in: directory)
            let key = history.snapshots(of: Board.self).lazy.compactMap(\.view.cells.keys.first)
                .first
            guard let key else { continue }
            let place = JSONPointer(["cells", ExactString(key)])
            let causes = try reader.causes(of: place, in: Board.self)
            var (view, confirmed): (Int?, Int?) = (nil, nil)
            var expected: [LogSequence] = []
            for snapshot in history.snapshots(of: Board.self) {
                let new = (snapshot.view.cells[key], snapshot.confirmed.cells[key])
                if new != (view, confirmed) { expected.append(snapshot.sequence) }
                (view, confirmed) = new
            }
            #expect(causes.map(\.entry.sequence) == expected, "seed \(seed)")
            #expect(causes.last?.view.new?.integerValue == view.map(Int64.init))

            let limit = Int.random(in: 0...40, using: &random)
            let isGood = { @Sendable (snapshot: Snapshot<Board>) in
                snapshot.view.cells.values.reduce(0, +) <= limit
            }
            let naive = history.snapshots(of: Board.self).first { !isGood($0) }?.sequence
            let found = try reader.firstBreak(in: Board.self) { isGood($0) ? .good : .bad }
            #expect(found?.entry?.sequence == naive && found?.isExact ?? true, "seed \(seed)")
            let last = LogSequence(UInt64.random(in: 0...UInt64(history.count), using: &random))
            let halved = try reader.firstBreak(in: Board.self, assumingMonotone: true) {
                $0.sequence <= last ? .good : .bad
            }
            let next = last.value < UInt64(history.count) ? last.value + 1 : nil
            #expect(halved?.entry?.sequence.value == next, "seed \(seed)")
            reader.close()
        }
    }

    /// Property: a branch without edits is the history; one without an entry is what is left of it.
    @Test(arguments: LogKind.allCases)
    func `a branch shows what would have been`(kind: LogKind) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + 20 {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 40, using: &random).store
            let history = try store.history()
            let same = try history.branch([])
            #expect(same.history.ndjson == history.ndjson && same.leftOut == [])
            #expect(history.divergences(of: same, in: Board.self).entries == [])
            guard let gone = history.sequences.randomElement(using: &random) else { continue }
            let branch = try history.branch([.drop(gone)])
            let left = history.following(history.records.filter { $0.stamp.sequence != gone })
            #expect(branch.history.ndjson == left.ndjson, "seed \(seed), \(gone)")
            #expect(
                Set(branch.origins.values).union(branch.leftOut).union([gone])
                    == Set(history.sequences))
            let real = Array(history.snapshots(of: Board.self))
            let found = history.divergences(of: branch, in: Board.self)
            // Behind the last entry both have come to their ends.
            let end = branch.history.snapshot(of: Board.self)
            let isSame =
                end.view == store.view && end.confirmed == store.confirmed
                && end.conflicted == store.snapshot.conflicted
            #expect(found.end.isNone == isSame && found.end.sequence == real.last?.sequence ?? 0)
        }
    }

    // MARK: Examples

    /// Likes of a post, one of which the server refuses while another stands on it.
    private static func history() async throws -> RecordedHistory<Move> {
        let store = Foldback.inMemory(
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

    @Test func `an intent's story names who answered, what changed back, and who it changed`()
        async throws
    {
        let directory = TemporaryDirectory()
        let reader = try await Self.log(of: try await Self.history(), in: directory)
        let story = try reader.story(of: 2, in: Board.self)
        #expect(story.state == .rejected && story.chapters.map(\.entry.sequence) == [3, 6])
        let rejection = try #require(story.chapters.last)
        guard case .rejected(2, let why) = rejection.entry.content else {
            Issue.record("\(rejection.entry)")
            return
        }
        #expect(why.code == "forbidden")
        #expect(rejection.changes.map(\.place.description) == ["/cells/draft"])
        #expect(rejection.others.map(\.number) == [3])
        guard case .conflicted = rejection.others[0].old, case .changes = rejection.others[0].new
        else {
            Issue.record("\(rejection.others)")
            return
        }
        #expect(throws: FoldbackError.self) { try reader.story(of: 9, in: Board.self) }
        reader.close()
    }

    @Test func `edits of every kind`() async throws {
        let history = try await Self.history()
        func cells(_ edits: HistoryEdit<Move>...) throws -> [String: Int] {
            try history.branch(edits).history.snapshot(of: Board.self).view.cells
        }
        let event = try LoggedEvent(Move.set("post", 40), writtenBy: MoveCodec())
        let draft = try #require(history.snapshot(of: Board.self).view.cells["draft"])
        #expect(try cells() == ["post": 5, "draft": draft])
        #expect(try cells(.edit(1, event))["post"] == 45)
        #expect(try cells(.record(event, behind: 5))["post"] == 40)
        #expect(try cells(.record(event, behind: 0))["post"] == 45)
        #expect(try cells(.reject(1, Rejection(message: "no")))["post"] == nil)
        #expect(try cells(.acknowledge(2))["draft"] != draft)
        #expect(try cells(.swap(3, 4)).keys.sorted() == ["draft", "post"])
        #expect(throws: FoldbackError.self) { try history.branch([.drop(77)]) }
        #expect(throws: FoldbackError.self) { try history.branch([.edit(77, event)]) }
    }

    @Test func `rows are looked at as tables by key`() async throws {
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

    @Test func `two versions of a projection side by side`() async throws {
        let directory = TemporaryDirectory()
        let reader = try await Self.log(of: try await Self.history(), in: directory)
        let same = try reader.rerun(Board.self, Board.self)
        #expect(same.verdict == .fine && same.divergences == [] && same.entryCount == 6)
        let strict = try reader.rerun(Board.self, StrictBoard.self)
        guard case .risky(_, 1) = strict.verdict else {
            Issue.record("\(strict.verdict)")
            return
        }
        #expect(strict.divergences.first?.sequence == 1)
        reader.close()
    }

    /// ``Board`` that refuses zero.
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

    @Test func `what is no history says where, and a log with entries is not filled`() async throws
    {
        let history = try await Self.history()
        var lines = history.ndjson.split(separator: "\n").map(String.init)
        for (line, text, place) in [
            (0, "{}", 1), (0, #"{"foldback":2,"kind":"downlink","replica":"me"}"#, 1),
            (2, "{", 3), (3, #"{"kind":"what"}"#, 4), (2, lines[1], 3),
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
        await #expect(throws: FoldbackError.self) {
            try await Foldback.importHistory(raw, into: directory.log)
        }
        lines.remove(at: 4)
        let holed = try RecordedHistory(ndjson: lines.joined(separator: "\n"))
        let other = TemporaryDirectory()
        await #expect(throws: FoldbackError.self) {
            try await Foldback.importHistory(holed, into: other.log)
        }
        try await Foldback.importHistory(try holed.closed(), into: other.log)
        #expect(try LogReader(at: other.log).verify(Board.self).findings == [])
    }

    @Test func `places in JSON are those of RFC 6901`() throws {
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
}
