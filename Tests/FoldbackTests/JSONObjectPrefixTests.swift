import Foldback
import Testing

/// Question: may a reader trust the judge of unfinished lines?
@Suite struct JSONObjectPrefixTests {
    private func refusal(of text: String) -> JSONError? {
        var prefix = JSONObjectPrefix()
        do {
            // Bytes arrive in any pieces.
            for byte in text.utf8 { try withUnsafeBytes(of: byte) { try prefix.take($0) } }
            return nil
        } catch {
            return error as? JSONError
        }
    }

    @Test func `every start of an object is accepted`() throws {
        let texts = [
            "{}", " \t\r\n{ } ", #"{"a":[1,-2.5e+10,0.1E-3,null,true,false],"b":{"c":[{}]}}"#,
            #"{"\"\\\u0041\n":"}]{[ \\","é":"😀\u007F"}"#,
        ]
        for text in texts {
            _ = try JSON(parsing: text)
            for count in 0...text.unicodeScalars.count {
                let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
                #expect(refusal(of: start) == nil, "\(start)")
            }
        }
    }

    @Test func `bytes that no object has are refused at their place`() {
        for (text, offset) in [
            ("a", 0), ("\0", 0), ("[", 0), ("\"a", 0), ("1", 0), (" \n}", 2), ("{}x", 2),
            ("{}{", 2), ("{x", 1), ("{\0", 1), ("{\"a\n", 3), ("{\"\\\u{1}", 3), ("{\"a\":é", 5),
            ("{\"a\":'", 5),
        ] {
            #expect(refusal(of: text)?.offset == offset, "\(text)")
        }
        let deep = String(repeating: "{\"a\":", count: JSON.depthMax + 1)
        #expect(refusal(of: deep)?.reason == "more than \(JSON.depthMax) levels")
        #expect(refusal(of: String(deep.dropLast(5))) == nil)
    }
}
