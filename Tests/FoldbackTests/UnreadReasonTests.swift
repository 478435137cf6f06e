import Foldback
import TestSupport
import Testing

/// Question: does the reason of a fault say what this code does not know?
///
/// The description of `DecodingError` says of an unknown case that the number of keys is wrong.
@Suite struct UnreadReasonTests {
    enum Mood: String, Codable { case glad }
    enum Way: Codable { case softly, loudly(times: Int) }
    enum Event: Codable, Sendable {
        case liked(post: String, way: Way?)
        case felt(Mood)
    }

    private func reason(_ json: String) -> String? {
        let payload = AppCodec(codec: JSONCodec<Event>()).payload(
            reading: Array(json.utf8), format: .json)
        guard case .unreadable(let reason) = payload.content else { return nil }
        return reason
    }

    @Test func `E4: the reason names an unknown case`() {
        #expect(reason(#"{"celebrated":{"post":"a"}}"#) == #"no case "celebrated" is known"#)
        #expect(
            reason(#"{"liked":{"post":"a","way":{"dearly":{}}}}"#)
                == #"at /liked/way: no case "dearly" is known"#)
    }

    @Test func `E4: the reason has at most 300 characters, however long the bytes are`() throws {
        let name = String(repeating: "x", count: 5_000)
        for json in [#"{"\#(name)":{}}"#, #"{"felt":{"_0":"\#(name)"}}"#] {
            let reason = try #require(self.reason(json))
            #expect(reason.count == 300 && reason.hasSuffix("\u{2026}"))
        }
    }

    @Test(arguments: [
        (#"{"liked":{}}"#, #"at /liked: the member "post" is missing"#),
        (#"{"felt":{"_0":"sad"}}"#, "at /felt/_0: "),
        (#"{"liked":{"post":1}}"#, "at /liked/post: "),
        (#"{"liked":{"post":null}}"#, "at /liked/post: "),
        (#"{"liked":{"post":"a"},"felt":{"_0":"glad"}}"#, "Invalid number of keys"),
        ("no JSON", "The given data was not valid JSON"),
    ])
    func `E4: the reason names the place that cannot be read`(_ json: String, _ beginning: String)
        throws
    {
        let reason = try #require(self.reason(json))
        #expect(reason.hasPrefix(beginning) && !reason.contains("\n"))
    }

    private struct Feed: Projection {
        mutating func apply(_ event: Event, _ context: EventContext) {}
    }

    @Test func `E4: a fault has the reason after words that do not change`() async throws {
        let store = Store.inMemory(Feed.self, confirmedBy: .downlink)
        try await store.confirm([
            ConfirmedEvent(
                position: 1,
                recorded: RecordedEvent(format: .json, bytes: Array(#"{"later":{}}"#.utf8)))
        ])
        #expect(
            store.faults.map(\.reason) == [#"the event cannot be read: no case "later" is known"#])
    }
}
