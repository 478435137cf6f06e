import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Minimizing removes the parts of JSON payloads that do not matter, and leaves other payloads
/// unchanged.
@Suite struct MinimizedPayloadTests {
    private func documents(
        _ events: DocumentEvent..., where holds: @escaping (Documents) -> Bool
    ) async throws -> [String] {
        let store = Store.inMemory(
            Documents.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        for event in events { _ = try await store.record(event, force: true) }
        let minimized = try await store.history().minimized(candidatesMax: 5_000) { candidate in
            let isRead = candidate.entries.allSatisfy {
                guard case .intent(let intent) = $0.content else { return false }
                return intent.event.event != nil
            }
            #expect(isRead, "the codec can read every candidate")
            return try holds(candidate.snapshot(of: Documents.self).view)
        }
        #expect(minimized.end == .minimalForThesePasses)
        return texts(minimized.history)
    }

    private func texts(_ history: RecordedHistory<some Sendable>) -> [String] {
        history.entries.map {
            guard case .intent(let intent) = $0.content else { return "\($0.content)" }
            return String(decoding: intent.event.bytes, as: UTF8.self)
        }
    }

    @Test func `members are removed, strings get shorter, and numbers get smaller`() async throws {
        let left = try await documents(
            .set("other", 1),
            .set(
                "post",
                ["likes": 7_000, "title": "a long title", "tags": ["x", "y", ["z": [1, 2, 3]]]])
        ) {
            $0.byKey.values.contains { ($0["likes"]?.integerValue ?? 0) > 50 }
        }
        #expect(left == [#"{"key":"","op":"set","value":{"likes":51}}"#])
    }

    @Test func `elements are removed, and the other elements are lowered in place`() async throws {
        let left = try await documents(
            .set("k", ["list": [-900, "keep it", 3.75, 1e300, [true, "é\u{301}x"]]])
        ) {
            guard let list = $0["k"]?["list"]?.arrayValue else { return false }
            let hasWord = list.contains { $0.stringValue?.contains("p") ?? false }
            let hasNumber = list.contains { ($0.integerValue ?? 0) < -3 }
            let hasFraction = list.contains { if case .double(let d) = $0 { d > 2 } else { false } }
            return hasWord && hasNumber && hasFraction
        }
        #expect(left == [#"{"key":"k","op":"set","value":{"list":[-4,"p",3.0]}}"#])
    }

    @Test func `parts of a compound event are removed`() async throws {
        let left = try await documents(
            .set("a", 1),
            .all([.set("b", 2), .delete("a"), .merge("c", ["x": 1]), .set("d", 4)])
        ) { $0["a"] == nil && $0["c"] != nil }
        #expect(left == [#"{"events":[{"key":"c","op":"merge","value":{}}],"op":"all"}"#])
    }

    @Test func `numbers with many digits get smaller`() async throws {
        let left = try await documents(.set("k", .digits("123456789012345678901234567890"))) {
            switch $0["k"] {
            case .digits: true
            case .integer(let value): value >= 1_000_000_007
            default: false
            }
        }
        #expect(left == [#"{"key":"k","op":"set","value":1000000007}"#])
    }

    @Test func `JSON payloads of an unknown event type get smaller`() async throws {
        let bytes = Array(#"{"a":[1,2,3],"b":"cause","c":null}"#.utf8)
        let history = try RecordedHistory(
            kind: .downlink, replica: ReplicaID("me")!,
            entries: [
                entry(1, .intent(1, LoggedEvent(bytes: bytes, format: .json))),
                entry(
                    2,
                    .intent(
                        2,
                        LoggedEvent(bytes: bytes, format: EventFormat(codec: 200, version: 1)))),
            ])
        let minimized = try await history.minimized(candidatesMax: 1_000) {
            texts($0).count == 2 && texts($0).allSatisfy { $0.contains("u") }
        }
        let other = #"{"a":[1,2,3],"b":"cause","c":null}"#
        #expect(texts(minimized.history) == [#"{"b":"u"}"#, other])
    }

    private func entry(
        _ sequence: LogSequence, _ content: LogEntry<[UInt8]>.Content
    ) -> LogEntry<[UInt8]> {
        LogEntry(
            sequence: sequence, time: Timestamp(millisecondsSince1970: 0),
            replica: ReplicaID("me")!, info: [:], content: content)
    }
}

extension LogEntry.Content {
    fileprivate static func intent(_ number: IntentNumber, _ event: LoggedEvent<Event>) -> Self {
        .intent(LoggedIntent(number, event))
    }
}
