import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A file outlives the generator that made its script. A script that changes on its way through a file tests
/// something else.
@Suite struct ScriptFileTests {
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, .strings(), .integers()), .making(Move.claim, .element(of: ["a", "b"])))

    @Test func `a script goes through a file unchanged`() throws {
        for seed in 0..<200 as Range<UInt64> {
            let script = try Self.moves.scripts(nil, steps: 30).value(seed: seed)
            let codec = PlainMoveCodec()
            let text = try script.ndjson(codec, title: "Board")
            let read = try Script(ndjson: text, codec)
            #expect(read.kind == script.kind)
            #expect("\(read.steps)" == "\(script.steps)")
        }
    }

    @Test func `entries of a log are a script`() throws {
        let text = """
            {"sequence":1,"kind":"intent","at":1795209600000,"replica":"me","intent":1,"event":{"op":"set","key":"a","value":1}}
            {"sequence":2,"kind":"acknowledged","at":1795209600001,"intent":1,"position":7}
            {"sequence":3,"kind":"confirmed","at":1795209600002,"through":7,"events":[{"position":7,"event":{"op":"set","key":"a","value":2},"origin":{"replica":"me","intent":1}}]}
            """
        let script = try Script<DocumentEvent>(
            ndjson: text, Documents.codec, confirmedBy: .downlink)
        let expected: [Script<DocumentEvent>.Step] = [
            .record(.set("a", 1), force: true), .acknowledge(1, position: 7),
            .confirm([.init(7, .set("a", 2), .own(1))], through: 7),
        ]
        #expect("\(script.steps)" == "\(expected)")
    }

    /// The texts are those of 2026-11-21: kept files must stay readable.
    @Test func `a file of every kind of step stays readable`() throws {
        let set = #""event":{"op":"set","key":"a","value":1}"#
        let text = """
            {"history":"x","confirmedBy":"downlink","codec":1,"version":1}
            {"kind":"intent","intent":1,\(set),"force":true,"confirmOnly":true,"once":"k"}
            {"kind":"intent","intent":2,\(set)}
            {"kind":"rejected","intent":2,"message":"no"}
            {"kind":"intent","intent":3,"retries":2,"force":true}
            {"kind":"dismissed","intent":2}
            {"kind":"withdrawn","intent":1}
            {"kind":"acknowledged","intent":3,"position":1,\(set)}
            {"kind":"confirmed","events":[{"position":2,\(set),"origin":{"replica":"me","intent":3}}],"through":4}
            {"kind":"checkpoint"}
            {"kind":"reopened"}
            {"kind":"killed"}
            {"kind":"attempt","intent":3}

            """
        let event = DocumentEvent.set("a", 1)
        let expected: [Script<DocumentEvent>.Step] = [
            .record(event, force: true, confirmOnly: true, once: "k"), .record(event),
            .reject(2, message: "no"), .retry(2, force: true), .dismiss(2), .withdraw(1),
            .acknowledge(3, position: 1, replacement: event),
            .confirm([.init(2, event, .own(3))], through: 4), .checkpoint, .reopen, .kill,
            .attempt(3),
        ]
        let script = try Script<DocumentEvent>(ndjson: text, Documents.codec)
        #expect("\(script.steps)" == "\(expected)")
        let written = try script.ndjson(Documents.codec, title: "x")
        let lines = { (text: String) in
            try text.split(separator: "\n").map { try JSON(parsing: String($0)) }
        }
        #expect(try lines(written).dropFirst() == lines(text).dropFirst())
        let notation = script.steps.indices.dropFirst(2).map {
            script.steps[$0].notation(of: script.steps, at: $0)
        }
        #expect(
            notation.prefix(4) == [
                #"reject 2 "no""#, "intent 3: retry 2, force", "dismiss 2", "withdraw 1",
            ])
        #expect(notation.last == "attempt 3")
        let source = try #require(
            Script<Move>(
                .downlink, [.retry(2, force: true), .dismiss(2), .withdraw(1), .attempt(3)]
            ).source("Board"))
        #expect(
            source.contains(
                "    .retry(2, force: true),\n    .dismiss(2),\n    .withdraw(1),\n"
                    + "    .attempt(3),\n"))
    }

    @Test(arguments: [
        ("{\"kind\":\"intent\",\"intent\":1}", "line 1: event is missing"),
        ("{\"kind\":\"confirmed\",\"events\":[{}]}", "line 1: position is not a number"),
        ("{\"history\":\"x\"}\n{\"kind\":\"danced\"}", "line 2: kind danced is unknown"),
        ("what?", "line 1: no value starts like this at byte 0"),
    ])
    func `an error names the line of a file that is not a script`(text: String, message: String) {
        let error = #expect(throws: ScriptFileError.self) {
            _ = try Script<DocumentEvent>(ndjson: text, Documents.codec)
        }
        #expect(error?.description == message)
    }

    // MARK: Numbers and replicas

    private static func read(
        _ text: String, confirmedBy kind: LogKind? = .downlink
    ) throws -> Script<DocumentEvent> {
        try Script(ndjson: text, Documents.codec, confirmedBy: kind)
    }

    @Test func `entries keep their replicas and places, whatever their numbers are`() throws {
        let set = #""event":{"op":"set","key":"a","value":1}"#
        let script = try Self.read(
            """
            {"sequence":1,"kind":"intent","replica":"phone","intent":41,\(set)}
            {"sequence":2,"kind":"intent","replica":"tablet","intent":42,\(set)}
            {"sequence":3,"kind":"rejected","intent":42,"message":"no","code":"x"}
            {"sequence":4,"kind":"intent","replica":"tablet","intent":43,"retries":42,\(set)}
            {"sequence":5,"kind":"withdrawn","intent":1}
            {"sequence":6,"kind":"intent","replica":"tablet","intent":44,"retries":40,\(set)}
            {"sequence":7,"kind":"confirmed","through":4,"events":[\
            {"position":1,\(set),"origin":{"replica":"phone","intent":41}},\
            {"position":2,\(set),"origin":{"replica":"phone","intent":42}},\
            {"position":3,\(set),"origin":{"replica":"tablet","intent":43}},\
            {"position":4,\(set),"origin":{"replica":"me","intent":41}}]}
            """)
        func foreign(_ replica: String, _ number: IntentNumber) -> Script<DocumentEvent>.Origin {
            .foreign(IntentID(replica: .named(replica), number: number))
        }
        let event = DocumentEvent.set("a", 1)
        let expected: [Script<DocumentEvent>.Step] = [
            .record(event, force: true), .record(event, force: true),
            .reject(2, code: "x", message: "no"),
            .retry(2, force: true), .withdraw(0), .record(event, force: true),
            .confirm(
                [
                    .init(1, event, .own(1)), .init(2, event, foreign("phone", 42)),
                    .init(3, event, .own(3)), .init(4, event, foreign("me", 41)),
                ], through: 4),
        ]
        #expect("\(script.steps)" == "\(expected)")
    }

    @Test func `an edited retry keeps its event in a file, and in the entries of a log`() throws {
        let (old, new) = (DocumentEvent.set("a", 1), DocumentEvent.set("a", 2))
        let steps: [Script<DocumentEvent>.Step] = [
            .record(old, force: true), .reject(1, message: "no"),
            .retry(1, with: new, force: true), .reject(2, message: "no"), .retry(2, force: true),
        ]
        let script = Script(.downlink, steps)
        let read = try Self.read(try script.ndjson(Documents.codec, title: ""), confirmedBy: nil)
        #expect("\(read.steps)" == "\(steps)")
        #expect(steps[2].notation(of: steps, at: 2).hasPrefix("intent 2: retry 1 with "))
        // A log also has the events of retries that are not edited.
        let entries = try Self.read(
            """
            {"sequence":1,"kind":"intent","intent":1,"event":{"op":"set","key":"a","value":1}}
            {"sequence":2,"kind":"rejected","intent":1,"message":"no"}
            {"sequence":3,"kind":"intent","intent":2,"retries":1,"event":{"op":"set","key":"a","value":2}}
            {"sequence":4,"kind":"rejected","intent":2,"message":"no"}
            {"sequence":5,"kind":"intent","intent":3,"retries":2,"event":{"op":"set","key":"a","value":2}}
            """)
        #expect("\(entries.steps)" == "\(steps)")
        let source = try #require(
            Script<Move>(.downlink, [.retry(2, with: .set("a", 2), force: true)]).source("Board"))
        #expect(source.contains(#"    .retry(2, with: .set("a", 2), force: true),"#))
    }

    @Test func `an origin with an unknown own number stays unknown in a file`() throws {
        let id = IntentID(replica: .own, number: 1_000_000)
        let event = DocumentEvent.set("a", 1)
        let script = Script<DocumentEvent>(
            .downlink, [.record(event), .confirm([.init(1, event, .foreign(id))])])
        let read = try Self.read(try script.ndjson(Documents.codec, title: ""), confirmedBy: nil)
        #expect("\(read.steps)" == "\(script.steps)")
    }

    @Test func `a step with an unknown number stays unknown in a file`() async throws {
        let unknown: IntentNumber = 1_000_003
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .withdraw(unknown), .retry(unknown, force: true),
            .reject(unknown, code: "x", message: "no"), .acknowledge(unknown), .attempt(unknown),
        ]
        let script = Script(.downlink, steps)
        let read = try Script<Move>(ndjson: try script.ndjson(MoveCodec(), title: ""), MoveCodec())
        #expect("\(read.steps)" == "\(steps)")
        let trial = try await Trial<Board>(script)
        #expect(
            trial.logSteps.dropFirst().map(\.result)
                == Array(repeating: .refused("unknownIntent"), count: 4) + [.ignored(nil)])
    }

    @Test func `a file names no place that is recorded later`() async throws {
        let script = Script<Move>(
            .downlink, [.confirm([.init(1, .claim("a"), .own(1))]), .record(.claim("b"))])
        try await requireLaw(.p1, of: Board.self, for: script)
    }

    @Test func `entries without a header do not name the kind of their log`() throws {
        let text = #"{"sequence":1,"kind":"withdrawn","intent":1}"#
        #expect(try Self.read(text, confirmedBy: .acknowledgement).kind == .acknowledgement)
        let error = #expect(throws: ScriptFileError.self) {
            _ = try Self.read(text, confirmedBy: nil)
        }
        #expect(error?.description == "line 1: confirmedBy is missing, the log's kind")
    }

    @Test func `a negative zero stays negative in a file`() async throws {
        let script = Script<ProjectionLawTests.Mean.Event>(.downlink, [.record(.noted(-0.0))])
        let text = try script.ndjson(ProjectionLawTests.Mean.codec, title: "Mean")
        let read = try Script<ProjectionLawTests.Mean.Event>(
            ndjson: text, ProjectionLawTests.Mean.codec)
        #expect("\(read.steps)" == "\(script.steps)")
        try await requireLaw(.p1, of: ProjectionLawTests.Mean.self, for: script)
    }
}

/// Moves whose keys have spaces and other separators.
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
