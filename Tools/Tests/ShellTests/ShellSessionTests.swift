import Foldback
import FoldbackShell
import Testing

/// Born from the question which lines the shell accepts, and in which form it answers: the part of
/// its contract that the worked histories leave out. Every line goes to documents in memory and to
/// documents as rows, which must answer the same.
@Suite struct ShellSessionTests {
    private let session = ShellSession(
        over: Store.inMemory(
            Documents.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .still))
    private let rows = ShellSession(
        over: Store.inMemory(
            StoredDocuments.self, confirmedBy: .downlink, replica: ReplicaID("me"),
            sources: .still))

    private func answer(_ line: String) async -> JSON {
        let answer = await session.answer(to: Array(line.utf8))
        #expect(await rows.answer(to: Array(line.utf8)).encoded == answer.encoded, "\(line)")
        return answer
    }

    private func code(_ line: String) async -> String? {
        let answer = await answer(line)
        #expect(answer["ok"] == .bool(answer["error"] == nil))
        return answer["error"]?["code"]?.stringValue
    }

    @Test func `a bad line gets an error answer, and the session continues`() async {
        let lines = [
            "", "x", "1", "[]", "null", #"{"do":1}"#, "{}", #"{"do":"fly"}"#, #"{"do":"record"}"#,
            #"{"do":"record","event":1}"#, #"{"do":"record","event":{"op":"set"}}"#,
            #"{"do":"record","event":{"op":"set","key":"a","value":1},"force":1}"#,
            #"{"do":"record","event":{"op":"set","key":"a","value":1},"once":1}"#,
            #"{"do":"acknowledge"}"#, #"{"do":"acknowledge","intent":"1"}"#,
            #"{"do":"acknowledge","intent":1,"position":0}"#,
            #"{"do":"acknowledge","intent":1,"position":1.5}"#, #"{"do":"reject","intent":1}"#,
            #"{"do":"confirm"}"#, #"{"do":"confirm","events":{}}"#,
            #"{"do":"confirm","events":[1]}"#,
            #"{"do":"confirm","events":[{"position":0,"event":{"op":"delete","key":"a"}}]}"#,
            #"{"do":"confirm","events":[{"event":{"op":"delete","key":"a"}}]}"#,
            #"{"do":"confirm","events":[{"position":5,"event":{"op":"delete","key":"a"}}],"through":4}"#,
            #"{"do":"confirm","events":[],"through":-1}"#, #"{"do":"view","at":1}"#,
            #"{"do":"view","at":-1}"#, #"{"do":"view","at":"x"}"#, #"{"do":"get"}"#,
            #"{"do":"entries"}"#, #"{"do":"entries","from":1}"#,
        ]
        for line in lines { #expect(await code(line) == "bad_request", "\(line)") }
        #expect(await session.answer(to: [0xFF, 0xFE])["ok"] == false)
        #expect(await answer(#"{"do":"status"}"#)["sequence"] == 0)
    }

    @Test func `an error about a confirmed event names the place and the wrong value`() async {
        let event = #""event":{"op":"delete","key":"a"}"#
        for (fields, message) in [
            (
                #""origin":{"replica":"","intent":1}"#,
                #""events[1].origin.replica" must be a name of 1 to 255 bytes, not """#
            ),
            (#""origin":{"intent":1}"#, #""events[1].origin.replica" is missing"#),
            (
                #""origin":{"replica":5,"intent":1}"#,
                #""events[1].origin.replica" must be a string, not 5"#
            ),
            (#""origin":{"replica":"b"}"#, #""events[1].origin.intent" is missing"#),
            (
                #""origin":{"replica":"b","intent":0}"#,
                #""events[1].origin.intent" must be a whole number from 1 up, not 0"#
            ),
            (
                #""origin":{"replica":"b","intent":-1}"#,
                #""events[1].origin.intent" must be a whole number from 1 up, not -1"#
            ),
            (
                #""origin":{"replica":"b","intent":"1"}"#,
                #""events[1].origin.intent" must be a whole number from 1 up, not "1""#
            ),
            (
                #""origin":{"replica":"b","intent":1.0}"#,
                #""events[1].origin.intent" must be a whole number from 1 up, not 1.0"#
            ),
            (#""origin":"b.1""#, #""events[1].origin" must be an object, not "b.1""#),
            (#""origin":null"#, #""events[1].origin" must be an object, not null"#),
            (#""position":0"#, #""events[1].position" must be a whole number from 1 up, not 0"#),
        ] {
            let position = fields.hasPrefix("\"position") ? "" : #""position":1,"#
            let answer = await answer(
                #"{"do":"confirm","events":[{"position":1,\#(event)},{\#(position)\#(event),\#(fields)}]}"#
            )
            #expect(answer["error"]?["code"] == "bad_request")
            #expect(answer["error"]?["message"]?.stringValue == message)
        }
        let one = await answer(#"{"do":"confirm","events":[5]}"#)
        #expect(one["error"]?["message"]?.stringValue == #""events[0]" must be an object, not 5"#)
        let lacking = await answer(#"{"do":"confirm","events":[{\#(event)}]}"#)
        #expect(lacking["error"]?["message"]?.stringValue == #""events[0].position" is missing"#)
        // F6: an origin that was never recorded here is foreign.
        let foreign = await answer(
            #"{"do":"confirm","events":[{"position":1,\#(event),"origin":{"replica":"me","intent":99}}]}"#
        )
        #expect(foreign["ok"] == true)
    }

    @Test func `an error shortens a long value, and names its length`() async {
        let long = String(repeating: "x", count: 1 << 20)
        for line in [
            #"{"do":"\#(long)"}"#, #""\#(long)""#, #"{"do":{"a":"\#(long)"}}"#,
            #"{"do":"record","event":"\#(long)"}"#, #"{"do":"record","event":{"op":"\#(long)"}}"#,
            #"{"do":"record","event":{"op":"set","key":"a","value":1},"once":["\#(long)"]}"#,
            #"{"do":"record","event":{"op":"increment","key":"\#(long)","field":"a","by":1}}"#,
            #"{"do":"record","event":{"op":"set","key":"\#(long)","value":1,"require":"present"}}"#,
            #"{"do":"withdraw","intent":"\#(long)"}"#, #"{"do":"get","key":["\#(long)"]}"#,
            #"{"do":"reject","intent":1,"message":["\#(long)"]}"#,
            #"{"\#(long)":1,"\#(long)":2}"#,
            #"{"do":1\#(String(repeating: "0", count: 1 << 20)).5}"#,
            #"{"do":"confirm","events":[{"position":"\#(long)"}]}"#,
        ] {
            let answer = await answer(line)
            let message = answer["error"]?["message"]?.stringValue ?? ""
            #expect(!message.isEmpty && message.utf8.count < 1_200, "\(line.prefix(80))")
            #expect(
                !message.contains("xxxx") || message.contains(#/\.\.\. \(10\d{5} bytes\) \.\.\./#),
                "\(line.prefix(80)): \(message)")
        }
        let unknown = await answer(#"{"do":"\#(long)"}"#)["error"]?["message"]?.stringValue
        #expect(
            unknown?.hasSuffix("does not exist; foldback shell --help lists the commands") == true)
    }

    @Test func `flush answers that everything before it survives, and adds no entry`() async {
        _ = await answer(#"{"do":"record","event":{"op":"set","key":"a","value":1}}"#)
        #expect(await answer(#"{"do":"flush"}"#) == ["flushed": true, "ok": true])
        #expect(await answer(#"{"do":"status"}"#)["sequence"] == 1)
    }

    @Test func `an intent number that was never recorded is unknown`() async {
        for command in ["acknowledge", "withdraw", "dismiss", "retry", "intent"] {
            for number in ["0", "-3", "1", "9223372036854775807"] {
                let line = #"{"do":"\#(command)","intent":\#(number)}"#
                #expect(await code(line) == "unknown_intent", "\(line)")
            }
        }
    }

    @Test func `entries have the form of the contract`() async throws {
        let lines = [
            #"{"do":"record","event":{"op":"set","key":"a","value":1},"once":"k"}"#,
            #"{"do":"record","event":{"op":"set","key":"b","value":1},"confirmOnly":true}"#,
            #"{"do":"acknowledge","intent":1,"position":7,"event":{"op":"set","key":"a","value":2}}"#,
            #"{"do":"reject","intent":2,"code":"forbidden","message":"not yours"}"#,
            #"{"do":"retry","intent":2}"#, #"{"do":"withdraw","intent":3}"#,
            #"{"do":"confirm","events":[{"position":7,"event":{"op":"delete","key":"a"},"origin":{"replica":"me","intent":1}},{"position":6,"event":{"op":"delete","key":"b"}}]}"#,
        ]
        for line in lines { #expect(await answer(line)["ok"] == true, "\(line)") }
        let entries = try #require(
            await answer(#"{"do":"entries","from":1,"limit":100}"#)["entries"]?.arrayValue)
        let shown = entries.map { entry in
            var object = entry.objectValue ?? [:]
            #expect((object["at"]?.integerValue ?? 0) > 1_700_000_000_000)
            object["at"] = nil
            return JSON.object(object).description
        }
        #expect(
            shown == [
                #"{"event":{"key":"a","op":"set","value":1},"intent":1,"kind":"intent","once":"k","replica":"me","sequence":1}"#,
                #"{"confirmOnly":true,"event":{"key":"b","op":"set","value":1},"intent":2,"kind":"intent","replica":"me","sequence":2}"#,
                #"{"event":{"key":"a","op":"set","value":2},"intent":1,"kind":"acknowledged","position":7,"sequence":3}"#,
                #"{"code":"forbidden","intent":2,"kind":"rejected","message":"not yours","sequence":4}"#,
                #"{"confirmOnly":true,"event":{"key":"b","op":"set","value":1},"intent":3,"kind":"intent","replica":"me","retries":2,"sequence":5}"#,
                #"{"intent":3,"kind":"withdrawn","sequence":6}"#,
                #"{"events":[{"event":{"key":"a","op":"delete"},"origin":{"intent":1,"replica":"me"},"position":7},{"event":{"key":"b","op":"delete"},"position":6}],"kind":"confirmed","sequence":7,"through":7}"#,
            ])
        let some = await answer(#"{"do":"entries","from":2,"limit":2}"#)["entries"]?.arrayValue
        #expect(some?.compactMap { $0["sequence"] } == [2, 3])
        #expect(await answer(#"{"do":"entries","from":8,"limit":2}"#)["entries"] == [])
    }

    @Test func `get, intent and status answer as the contract states`() async {
        _ = await answer(#"{"do":"record","event":{"op":"set","key":"a","value":null}}"#)
        let get = await answer(#"{"do":"get","key":"a"}"#)
        #expect(get["value"] == JSON.null)
        #expect(get["overlay"] == [1])
        #expect(await answer(#"{"do":"get","key":"b"}"#)["absent"] == true)
        _ = await answer(#"{"do":"reject","intent":1,"message":"no"}"#)
        let intent = await answer(#"{"do":"intent","intent":1}"#)
        #expect(
            intent.description
                == #"{"dismissed":false,"message":"no","ok":true,"state":"rejected"}"#)
        let status = await answer(#"{"do":"status"}"#)
        for (name, value) in [
            ("replica", "me"), ("kind", "downlink"), ("sequence", 2), ("through", 0),
            ("pending", 0), ("accepted", 0), ("faults", 0), ("nextIntent", 2),
        ] as [(ExactString, JSON)] {
            #expect(status[name] == value, "\(name)")
        }
    }
}
