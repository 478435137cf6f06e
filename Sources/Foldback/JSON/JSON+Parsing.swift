/// The reason why bytes are not a JSON value.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes before the error.
    public let offset: Int
    public let reason: String
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
    /// The deepest allowed nesting of arrays and objects.
    public static let depthMax = 512

    /// Parses one JSON value (RFC 8259) in UTF-8, with only white space around it.
    ///
    /// The parser is stricter than the RFC. Two members with one name are an error, because it is
    /// unknown which one is meant. Half of a surrogate pair is an error, because it is not text. A
    /// double that is too large is an error.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    /// Parses bytes that a decoder has accepted, which may be less strict: of two members with one
    /// name the last counts, half of a surrogate pair is U+FFFD, and a number that is too large or
    /// begins with 0 is its digits.
    package init(lenient bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        parser.isLenient = true
        self = try parser.document()
    }

    public init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8)) }
}

private struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0
    var isLenient = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        skipSpace()
        let value = try value()
        skipSpace()
        guard offset == bytes.count else { throw error("text follows the value") }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        switch peek {
        case UInt8(ascii: "{"): return .object(try nested { p throws(JSONError) in try p.object() })
        case UInt8(ascii: "["): return .array(try nested { p throws(JSONError) in try p.array() })
        case UInt8(ascii: "\""): return .string(ExactString(try string()))
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("the text ends where a value should be")
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
        default: throw error("no value starts like this")
        }
    }

    private mutating func nested<R>(
        _ body: (inout Self) throws(JSONError) -> R
    ) throws(JSONError) -> R {
        depth += 1
        guard depth <= JSON.depthMax else { throw error("more than \(JSON.depthMax) levels") }
        defer { depth -= 1 }
        offset += 1
        skipSpace()
        return try body(&self)
    }

    private mutating func object() throws(JSONError) -> JSON.Object {
        var members: [(name: ExactString, value: JSON)] = []
        let start = offset
        if skip("}") { return JSON.Object() }
        while true {
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
            let name = ExactString(try string())
            skipSpace()
            guard skip(":") else { throw error("a colon is missing") }
            skipSpace()
            members.append((name, try value()))
            skipSpace()
            if skip("}") { break }
            guard skip(",") else { throw error("a comma or } is missing") }
            skipSpace()
        }
        if isLenient { return JSON.Object(lastOf: members) }
        switch JSON.Object.of(members) {
        case .success(let object): return object
        case .failure(let twice):
            throw JSONError(offset: start, reason: "the member \"\(twice.name)\" appears twice")
        }
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        var elements: [JSON] = []
        if skip("]") { return elements }
        while true {
            elements.append(try value())
            skipSpace()
            if skip("]") { return elements }
            guard skip(",") else { throw error("a comma or ] is missing") }
            skipSpace()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let length = word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { word in
            bytes[offset...].prefix(length).elementsEqual(word)
        }
        guard matches else { throw error("no value starts like this") }
        offset += length
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) -> JSON {
        let start = offset
        _ = skip("-")
        let startsWithZero = peek == UInt8(ascii: "0")
        let digits = skipDigits()
        guard digits > 0 else { throw error("a number needs a digit") }
        guard digits == 1 || !startsWithZero || isLenient else {
            throw error("a number starts with 0")
        }
        var isWhole = true
        if skip(".") {
            isWhole = false
            guard skipDigits() > 0 else { throw error("a digit is missing after the point") }
        }
        if skip("e") || skip("E") {
            isWhole = false
            if !skip("+") { _ = skip("-") }
            guard skipDigits() > 0 else { throw error("a digit is missing in the exponent") }
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isWhole {
            return Int64(text).map(JSON.integer) ?? .digits(text)
        }
        guard let value = Double(text), value.isFinite else {
            if isLenient { return .digits(text) }
            throw JSONError(offset: start, reason: "the number \(text) is too large")
        }
        return .double(value)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private mutating func skipDigits() -> Int {
        let start = offset
        while let byte = peek, Self.isDigit(byte) { offset += 1 }
        return offset - start
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20
        {
            offset += 1
        }
        if peek == UInt8(ascii: "\"") {
            defer { offset += 1 }
            return try text(bytes[start..<offset], at: start)
        }
        var unescaped = Array(bytes[start..<offset])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return try text(unescaped[...], at: start)
            case UInt8(ascii: "\\"):
                offset += 1
                try unescape(into: &unescaped)
            case 0..<0x20: throw error("a control character must be escaped")
            default:
                unescaped.append(byte)
                offset += 1
            }
        }
        throw error("the text ends within a string")
    }

    private func text(_ utf8: ArraySlice<UInt8>, at start: Int) throws(JSONError) -> String {
        guard let text = String(validating: utf8, as: UTF8.self) else {
            if isLenient { return String(decoding: utf8, as: UTF8.self) }
            throw JSONError(offset: start, reason: "a string is not UTF-8")
        }
        return text
    }

    private mutating func unescape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = peek else { throw error("the text ends within a string") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: try scalar().utf8)
        default: throw error("the escape is unknown")
        }
    }

    private mutating func scalar() throws(JSONError) -> String {
        let high = try codeUnit()
        var value = UInt32(high)
        if 0xD800..<0xDC00 ~= high {
            if isLenient, !startsLowSurrogate { return "\u{FFFD}" }
            guard skip("\\"), skip("u") else { throw error("half of a surrogate pair is missing") }
            let low = try codeUnit()
            guard 0xDC00..<0xE000 ~= low else {
                throw error("half of a surrogate pair is missing")
            }
            value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else {
            if isLenient { return "\u{FFFD}" }
            throw error("half of a surrogate pair is missing")
        }
        return String(scalar)
    }

    /// Whether the escape of the second half of a surrogate pair follows.
    private var startsLowSurrogate: Bool {
        let next = bytes[offset...].prefix(4)
        return next.count == 4 && next.starts(with: "\\u".utf8)
            && "dD".utf8.contains(next[offset + 2]) && "cdefCDEF".utf8.contains(next[offset + 3])
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard offset + 4 <= bytes.count else { throw error("the text ends within a string") }
        let digits = bytes[offset..<offset + 4]
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("\\u needs four hexadecimal digits") }
        offset += 4
        return value
    }

    // MARK: Bytes

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    private func error(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}
