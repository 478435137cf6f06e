import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Born from F16 and F20 to F22: an intent has more than its event, and a file, a branch or a smaller
/// history must neither lose that nor invent it.
@Suite struct IntentTermsTests {
    private let directory = TemporaryDirectory()

    /// A history with each term of an intent and each change of one.
    private static let lines = [
        #"{"codec":1,"foldback":1,"kind":"downlink","replica":"me","version":1}"#,
        #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":1,"inverse":{"event":{"key":"a","op":"delete"},"format":[1,1]},"kind":"intent","once":"o","replacing":"k","replica":"me","sequence":1}"#,
        #"{"at":2,"event":{"key":"a","op":"set","value":2},"intent":2,"kind":"intent","once":"o","replaces":1,"replacing":"k","replica":"me","sequence":2}"#,
        #"{"at":3,"event":{"key":"b","op":"set","value":1},"held":true,"intent":3,"kind":"intent","replica":"me","sequence":3}"#,
        #"{"at":4,"event":{"key":"c","op":"set","value":1},"group":4,"intent":4,"kind":"intent","replica":"me","sequence":4}"#,
        #"{"at":4,"event":{"key":"d","op":"set","value":1},"group":4,"intent":5,"kind":"intent","replica":"me","sequence":5}"#,
        #"{"at":5,"intent":3,"kind":"released","replica":"me","sequence":6}"#,
        #"{"at":6,"event":{"key":"a","op":"delete"},"intent":6,"kind":"intent","replica":"me","sequence":7,"undoes":2}"#,
        #"{"at":7,"intent":2,"kind":"rejected","message":"no","replica":"me","sequence":8}"#,
        #"{"at":7,"intent":6,"kind":"lapsed","replica":"me","sequence":9}"#,
        #"{"at":8,"intent":2,"kind":"acknowledged","replica":"me","sequence":10}"#,
        #"{"at":8,"intent":6,"kind":"restored","replica":"me","sequence":11}"#,
        #"{"at":9,"intent":5,"kind":"undone","replica":"me","sequence":12}"#,
        #"{"at":10,"event":{"key":"e","op":"set","value":1},"held":true,"intent":7,"inverse":{"bytes":"AP8=","format":[200,3]},"kind":"intent","replica":"me","sequence":13}"#,
        // Base64 of {"op": "delete", "key": "a"}, which JSON would not give back byte for byte.
        #"{"at":11,"event":{"key":"f","op":"set","value":1},"intent":8,"inverse":{"bytes":"eyJvcCI6ICJkZWxldGUiLCAia2V5IjogImEifQ==","format":[1,1]},"kind":"intent","replica":"me","sequence":14}"#,
    ]

    private static func history(_ lines: [String] = lines) throws -> RecordedHistory<[UInt8]> {
        try RecordedHistory(ndjson: lines.map { $0 + "\n" }.joined())
    }

    private static func lines(of history: RecordedHistory<[UInt8]>) -> [String] {
        history.ndjson.split(separator: "\n").map { String($0) }
    }

    private static func intent(
        _ number: IntentNumber, in history: RecordedHistory<[UInt8]>
    ) -> LoggedIntent<[UInt8]>? {
        for entry in history.entries {
            if case .intent(let intent) = entry.content, intent.number == number { return intent }
        }
        return nil
    }

    @Test func `a file with every term and change is the same after an import`() async throws {
        let history = try Self.history()
        #expect(Self.lines(of: history) == Self.lines)
        try await history.importLog(into: directory.log)
        let reader = try LogReader(at: directory.log)
        let copy = try reader.history()
        #expect(Self.lines(of: copy).dropFirst() == Self.lines.dropFirst())
        #expect(try reader.verify(Documents.self).findings == [])
        #expect(try reader.status().heldCount == 1)
        reader.close()
    }

    @Test func `an imported draft, and what undoes a pending intent, do not count as sent`()
        async throws
    {
        let end =
            #"{"at":12,"event":{"key":"f","op":"delete"},"intent":9,"kind":"intent","replica":"me","sequence":15,"undoes":8}"#
        try await Self.history(Self.lines + [end]).importLog(into: directory.log)
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(store.attempts.keys.sorted() == [3, 4, 6, 8])
        try await store.withdraw(7)
        await store.close()
    }

    @Test func `a history without an intent has no link to it`() throws {
        let history = try Self.history()
        let drops:
            [(LogSequence, [(IntentNumber, KeyPath<LoggedIntent<[UInt8]>, IntentNumber?>)])] =
                [(1, [(2, \.replaces)]), (2, [(6, \.undoes)]), (4, [(5, \.group)])]
        for (sequence, links) in drops {
            let branch = try history.branch([.drop(sequence)]).history
            for (number, link) in links {
                let intent = try #require(Self.intent(number, in: branch))
                #expect(intent[keyPath: link] == nil, "\(sequence)")
            }
            #expect(try RecordedHistory(ndjson: branch.ndjson).ndjson == branch.ndjson)
        }
    }

    @Test func `closing a history renumbers every link`() throws {
        let history = try Self.history()
        let kept = history.records.filter { $0.stamp.sequence != 3 && $0.stamp.sequence != 6 }
        let closed = try history.following(kept).closed()
        #expect(Self.intent(3, in: closed)?.group == 3)
        #expect(Self.intent(4, in: closed)?.group == 3)
        #expect(Self.intent(5, in: closed)?.undoes == 2)
        #expect(Self.intent(2, in: closed)?.replaces == 1)
    }

    @Test func `an edited intent loses the inverse of its old event, and keeps its other terms`()
        throws
    {
        let event = LoggedEvent(
            bytes: Array(#"{"key":"a","op":"set","value":3}"#.utf8), format: .json)
        let branch = try Self.history().branch([.edit(1, event)]).history
        let intent = try #require(Self.intent(1, in: branch))
        #expect(intent.inverse == nil && intent.replacingKey == "k" && intent.once == "o")
    }

    @Test func `a rejected draft was released before its rejection only if the log says so`() throws
    {
        let branch = try Self.history().branch([.reject(3, Rejection(message: "no"))])
        let changes = branch.history.entries.compactMap { entry -> IntentChange.Kind? in
            guard case .changed(3, let change) = entry.content else { return nil }
            return change.kind
        }
        #expect(changes == [.released, .rejected])
    }

    @Test func `minimizing removes every term that a failure does not need`() async throws {
        let minimized = try await Self.history().minimized(candidatesMax: 5_000) { candidate in
            candidate.entries.contains { entry in
                guard case .intent(let intent) = entry.content else { return false }
                return intent.replaces != nil
            }
        }
        #expect(minimized.end == .minimalForThesePasses)
        let history = minimized.history
        #expect(history.count == 2)
        let (old, new) = (Self.intent(1, in: history), Self.intent(2, in: history))
        #expect(old?.replacingKey == nil && old?.inverse == nil && old?.once == nil)
        #expect(new?.replaces == 1 && new?.replacingKey == nil && new?.once == nil)
    }

    @Test func `an entry that a log would not append is refused with its line`() throws {
        let wrong: [(line: String, words: String)] = [
            (#""kind":"released","intent":4"#, "intent 4 is pending and not held"),
            (#""kind":"released","intent":99"#, "no intent 99"),
            (#""kind":"undone","intent":1"#, "intent 1"),
            (#""kind":"lapsed","intent":4"#, "intent 4 undoes no intent"),
            (#""kind":"lapsed","intent":6"#, "which is neither rejected nor withdrawn"),
            (#""kind":"restored","intent":4"#, "intent 4 is not withdrawn"),
            (#""kind":"restored","intent":99"#, "no intent 99"),
            (#""kind":"intent","intent":9,"event":1,"replaces":1"#, "which is not pending"),
            (#""kind":"intent","intent":9,"event":1,"undoes":9"#, "not recorded before it"),
            (#""kind":"intent","intent":9,"event":1,"group":5"#, "does not begin a group"),
            (#""kind":"intent","intent":9,"event":1,"inverse":5"#, "\"inverse\" cannot be read"),
            (#""kind":"intent","intent":9,"event":1,"held":5"#, "\"held\""),
        ]
        for (line, words) in wrong {
            do {
                _ = try Self.history(Self.lines + [#"{"at":20,"sequence":20,\#(line)}"#])
                Issue.record("\(line) follows")
            } catch let error as HistoryFileError {
                #expect(error.line == 16 && error.reason.contains(words), "\(error)")
            }
        }
    }
}
