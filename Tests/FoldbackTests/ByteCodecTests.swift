import Foldback
import Foundation
import MessageExample
import TestSupport
import Testing

/// Question: what does a hand-written codec do with bytes that no codec wrote?
///
/// It throws an error. It never traps, and it never returns a value whose encoding has other bytes.
@Suite struct ByteCodecTests {
    private static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["CODEC_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0..<1_000_000)
        print("CODEC_SEED=\(seed)")
        return seed
    }()

    private static let texts: [String] = [
        "", "a", "\0", "fifteen bytes..", "sixteen bytes...", "e\u{301}", "\u{e9}", "\u{FEFF}",
        "\u{202E}drow", "\u{FFFD}", "\u{10FFFF}", "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}",
        "\r\n", "{\"text\":\"\\u0000\"}", String(repeating: "x", count: 127),
        String(repeating: "\u{e9}", count: 64), String(repeating: "\u{2603}", count: 20_000),
    ]

    // MARK: Round trips

    /// Property: decode(encode(x)) == x, texts are equal byte for byte, and equal values have equal
    /// bytes.
    @Test func `messages and their events read back as they were written`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<2_000 {
            let event = MessageEvent.random(&generator, Self.texts)
            let bytes = try MessageEventBytes().bytes(of: event)
            let read = try MessageEventBytes().value(of: bytes)
            #expect(read == event)
            #expect(try MessageEventBytes().bytes(of: read) == bytes)
            let message = Message.random(&generator, Self.texts)
            let row = try MessageBytes().bytes(of: message)
            #expect(try MessageBytes().value(of: row) == message)
        }
    }

    @Test func `numbers of any size read back as they were written`() throws {
        func check<N: FixedWidthInteger & BitwiseCopyable>(_: N.Type) throws {
            for number in [N.min, N.max, 0, 1] {
                var output = OutputBuffer()
                output.append(number)
                output.append(variable: UInt64(truncatingIfNeeded: number))
                var cursor = InputCursor()
                let bytes = output.bytes
                let fixed = try cursor.number(N.self, in: bytes.span.bytes)
                #expect(fixed == number)
                let variable = try cursor.variable(in: bytes.span.bytes)
                #expect(variable == UInt64(truncatingIfNeeded: number))
                try cursor.requireEnd(of: bytes.span.bytes)
            }
        }
        try check(UInt8.self)
        try check(Int16.self)
        try check(UInt32.self)
        try check(Int64.self)
        try check(UInt64.self)
        try check(Int128.self)
        for number in [0, -0.0, .infinity, .nan, .leastNonzeroMagnitude, .pi] {
            var output = OutputBuffer()
            output.append(number)
            var cursor = InputCursor()
            let read = try cursor.double(in: output.bytes.span.bytes)
            #expect(read.bitPattern == number.bitPattern)
        }
    }

    @Test func `a variable-length number has exactly one encoding`() throws {
        for shift in 0..<64 {
            for number in [UInt64(1) << shift, (UInt64(1) << shift) - 1] {
                var output = OutputBuffer()
                output.append(variable: number)
                #expect(Self.variable(output.bytes) == .success(number))
                // The same number with one more byte.
                var longer = output.bytes
                longer[longer.count - 1] |= 0x80
                longer.append(0)
                #expect(Self.variable(longer) == .failure(.outOfRange))
            }
        }
        let most = [UInt8](repeating: 0xFF, count: 9)
        #expect(Self.variable(most + [0x01]) == .success(.max))
        #expect(Self.variable(most + [0x02]) == .failure(.outOfRange))
        #expect(Self.variable(most + [0x81, 0x00]) == .failure(.outOfRange))
        #expect(Self.variable(most) == .failure(.tooShort))
    }

    @Test func `a text keeps its exact bytes`() throws {
        for text in Self.texts {
            var output = OutputBuffer()
            output.append(text)
            var cursor = InputCursor()
            let read = try cursor.text(in: output.bytes.span.bytes)
            #expect(Array(read.utf8) == Array(text.utf8))
        }
    }

    // MARK: Invalid bytes

    @Test func `invalid UTF-8 is an error`() {
        let wrong: [[UInt8]] = [
            [0x80], [0xC0, 0x80], [0xE2, 0x98], [0xED, 0xA0, 0x80], [0xF0, 0x90, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xFF], [0x61, 0xF0, 0x9F, 0x98],
            // A repaired text would have the same length.
            [0xF0, 0x9F, 0x98, 0x61], [0x61, 0x62, 0x63, 0x64, 0xF0, 0x9F, 0x98],
            [UInt8](repeating: 0x61, count: 40) + [0xF0, 0x9F, 0x98],
        ]
        for bytes in wrong {
            let sized = [UInt8(bytes.count)] + bytes
            #expect(Self.text(sized) == .failure(.notUTF8), "\(bytes)")
        }
        #expect(Self.text([0]) == .success(""))
        #expect(Self.text([]) == .failure(.tooShort))
        #expect(Self.text([2, 0x61]) == .failure(.tooShort))
        // A length beyond Int.
        let huge = [UInt8](repeating: 0xFF, count: 9) + [0x01, 0x61]
        #expect(Self.text(huge) == .failure(.tooShort))
    }

    /// Property: if bytes decode, the value encodes to exactly these bytes. Otherwise they are an
    /// error.
    @Test func `cut, changed, and random bytes are errors or encode back to themselves`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let texts = Self.texts.filter { $0.utf8.count < 200 }
        for _ in 0..<30 {
            let event = MessageEvent.random(&generator, texts)
            let bytes = try MessageEventBytes().bytes(of: event)
            for count in 0..<bytes.count { try expectExact(Array(bytes.prefix(count))) }
            for place in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[place] ^= 1 << bit
                    try expectExact(changed)
                }
            }
            try expectExact(bytes + [0])
        }
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<100, using: &generator)
            try expectExact((0..<count).map { _ in .random(in: 0...130, using: &generator) })
        }
    }

    @Test func `a truncated message is an error, except where older code ended it`() throws {
        let message = Message.golden(replyTo: UUID(uuidString: Message.replyID))
        let bytes = try MessageBytes().bytes(of: message)
        for count in 0..<bytes.count where count != bytes.count - 16 {
            #expect(throws: InputError.tooShort) {
                try MessageBytes().value(of: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: InputError.tooLong) {
            try MessageBytes().value(of: bytes + [0])
        }
    }

    @Test func `an unknown case is an error`() throws {
        let bytes: [UInt8] = [9] + [UInt8](repeating: 1, count: 16)
        #expect(throws: InputError.unknownTag(9)) {
            try MessageEventBytes().value(of: bytes)
        }
    }

    /// These bytes were written before `replyTo` existed. Never change them.
    @Test func `older bytes are read, and an equal message encodes to the same bytes`()
        throws
    {
        var bytes = [UInt8](repeating: 0x11, count: 16) + [UInt8](repeating: 0x22, count: 16)
        bytes += [0, 0, 0, 0, 0, 0, 0xF8, 0x3F]  // 1.5 s
        bytes += [0x85, 0x01]  // flags 133
        bytes += [3, 0x61, 0x6E, 0x6E]
        bytes += [4, 0x68, 0xC3, 0xA9, 0x21]
        let message = Message.golden(replyTo: nil)
        #expect(try MessageBytes().value(of: bytes) == message)
        #expect(try MessageBytes().bytes(of: message) == bytes)
    }

    /// Expects that `bytes` are an error, or encode back to themselves.
    private func expectExact(_ bytes: [UInt8]) throws {
        let events = MessageEventBytes()
        if let event = try? events.value(of: bytes) {
            #expect(try events.bytes(of: event) == bytes)
        }
        if let message = try? MessageBytes().value(of: bytes) {
            #expect(try MessageBytes().bytes(of: message) == bytes)
        }
    }

    private static func variable(_ bytes: [UInt8]) -> Result<UInt64, InputError> {
        var cursor = InputCursor()
        do throws(InputError) {
            let number = try cursor.variable(in: bytes.span.bytes)
            try cursor.requireEnd(of: bytes.span.bytes)
            return .success(number)
        } catch {
            return .failure(error)
        }
    }

    private static func text(_ bytes: [UInt8]) -> Result<String, InputError> {
        var cursor = InputCursor()
        do throws(InputError) { return .success(try cursor.text(in: bytes.span.bytes)) } catch {
            return .failure(error)
        }
    }
}

extension ByteCodec {
    /// Decodes an array, because `#expect` cannot capture a span.
    fileprivate func value(of bytes: [UInt8]) throws -> Value { try decode(bytes.span.bytes) }
}

extension Message {
    fileprivate static let replyID = "33333333-3333-3333-3333-333333333333"

    fileprivate static func golden(replyTo: UUID?) -> Message {
        Message(
            id: UUID(uuidString: "11111111-1111-1111-1111-111111111111")!,
            thread: UUID(uuidString: "22222222-2222-2222-2222-222222222222")!, author: "ann",
            text: "h\u{e9}!", sent: Date(timeIntervalSinceReferenceDate: 1.5),
            flags: Flags(rawValue: 133), replyTo: replyTo)
    }

    fileprivate static func random(
        _ generator: inout SeededGenerator, _ texts: [String]
    ) -> Message {
        Message(
            id: .random(&generator), thread: .random(&generator),
            author: texts.randomElement(using: &generator)!,
            text: texts.randomElement(using: &generator)!,
            sent: Date(
                timeIntervalSinceReferenceDate: generator.oneIn(9)
                    ? [.infinity, -.greatestFiniteMagnitude, -0.0]
                        .randomElement(using: &generator)!
                    : .random(in: -1e12...1e12, using: &generator)),
            flags: Flags(rawValue: generator.oneIn(4) ? .max : UInt32(generator.next() & 0xFFF)),
            replyTo: generator.oneIn(2) ? .random(&generator) : nil)
    }
}

extension MessageEvent {
    fileprivate static func random(
        _ generator: inout SeededGenerator, _ texts: [String]
    ) -> MessageEvent {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            .edited(
                id: .random(&generator), text: texts.randomElement(using: &generator)!)
        case 1: .read(id: .random(&generator))
        case 2: .deleted(id: .random(&generator))
        default: .sent(.random(&generator, texts))
        }
    }
}

extension UUID {
    fileprivate static func random(_ generator: inout SeededGenerator) -> UUID {
        func byte() -> UInt8 { UInt8(truncatingIfNeeded: generator.next()) }
        return UUID(
            uuid: (
                byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(),
                byte(), byte(), byte(), byte(), byte(), byte()
            ))
    }
}
