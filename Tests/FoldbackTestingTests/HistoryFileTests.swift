import Foldback
import FoldbackTesting
import TestSupport
import Testing

/// Histories outlive the code that made them as files; a file that comes back changed would test
/// something else.
@Suite struct HistoryFileTests {
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, .strings(), .integers()), .making(Move.claim, .element(of: ["a", "b"])))

    @Test func `a history comes back from its file as it was`() throws {
        for seed in 0..<200 as Range<UInt64> {
            let history = try Self.moves.scripts(nil, steps: 30).value(seed: seed)
            let codec = PlainMoveCodec()
            let text = try history.ndjson(codec, title: "Board")
            let read = try Script(ndjson: text, codec)
            #expect(read.kind == history.kind)
            #expect("\(read.steps)" == "\(history.steps)")
        }
    }

    @Test func `entries of a log are a history`() throws {
        let text = """
            {"sequence":1,"kind":"intent","at":1795209600000,"replica":"me","intent":1,"event":{"op":"set","key":"a","value":1}}
            {"sequence":2,"kind":"acknowledged","at":1795209600001,"intent":1,"position":7}
            {"sequence":3,"kind":"confirmed","at":1795209600002,"through":7,"events":[{"position":7,"event":{"op":"set","key":"a","value":2},"origin":{"replica":"me","intent":1}}]}
            """
        let history = try Script<DocumentEvent>(
            ndjson: text, Documents.codec, confirmedBy: .downlink)
        let expected: [Script<DocumentEvent>.Step] = [
            .record(.set("a", 1), force: true), .acknowledge(1, position: 7),
            .confirm([.init(7, .set("a", 2), .own(1))], through: 7),
        ]
        #expect("\(history.steps)" == "\(expected)")
    }

    @Test(arguments: [
        ("{\"kind\":\"intent\",\"intent\":1}", "line 1: event is missing"),
        ("{\"kind\":\"confirmed\",\"events\":[{}]}", "line 1: position is no number"),
        ("{\"history\":\"x\"}\n{\"kind\":\"danced\"}", "line 2: kind danced is unknown"),
        ("what?", "line 1: no value starts like this at byte 0"),
    ])
    func `a file that is no history says where`(text: String, message: String) {
        let error = #expect(throws: ScriptFileError.self) {
            _ = try Script<DocumentEvent>(ndjson: text, Documents.codec)
        }
        #expect(error?.description == message)
    }
}

/// Moves whose keys have spaces and worse in them.
private struct PlainMoveCodec: EventCodec {
    let format = EventFormat(codec: 201, version: 1)

    func encode(_ move: Move) throws -> [UInt8] {
        switch move {
        case .set(let key, let value): Array("\(value) \(key)".utf8)
        default: Array("\(move)".utf8)
        }
    }

    func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if text.hasPrefix("claim") { return .claim(text.contains("\"a\"") ? "a" : "b") }
        let space = text.utf8.firstIndex(of: 32) ?? text.endIndex
        return .set(String(text[space...].unicodeScalars.dropFirst()), Int(text[..<space]) ?? 0)
    }
}
