/// Judges the first bytes of a JSON object before the rest has arrived.
///
/// A reader of lines uses it so that an endless line of other bytes costs no memory. It finds bytes
/// that no object contains at their place. It does not check names, numbers, commas and UTF-8; the
/// parser checks them when the whole line is there.
package struct JSONObjectPrefix {
    private enum Place {
        case before
        case outsideStrings
        case inString
        case afterBackslash
        case after
    }

    private var place = Place.before
    private var depth = 0
    /// The number of bytes so far.
    package private(set) var count = 0

    package init() {}

    /// Takes the next bytes.
    ///
    /// - Throws: if no JSON object has these bytes at this place.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        for byte in bytes {
            try take(byte)
            count += 1
        }
    }

    private mutating func take(_ byte: UInt8) throws(JSONError) {
        switch place {
        case .inString:
            switch byte {
            case UInt8(ascii: "\""): place = .outsideStrings
            case UInt8(ascii: "\\"): place = .afterBackslash
            case 0..<0x20: throw error("a control character must be escaped")
            default: break
            }
        case .afterBackslash:
            guard byte >= 0x20 else { throw error("the escape is unknown") }
            place = .inString
        case .outsideStrings: try takeOutsideStrings(byte)
        case .before:
            guard !Self.isSpace(byte) else { return }
            guard byte == UInt8(ascii: "{") else { throw error("no object starts like this") }
            depth = 1
            place = .outsideStrings
        case .after:
            guard Self.isSpace(byte) else { throw error("text follows the object") }
        }
    }

    private mutating func takeOutsideStrings(_ byte: UInt8) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "\""): place = .inString
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            guard depth <= JSON.depthMax else { throw error("more than \(JSON.depthMax) levels") }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth == 0 { place = .after }
        // Punctuation and numbers.
        case UInt8(ascii: "+")...UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: ":"),
            UInt8(ascii: "E"):
            break
        // The letters of true, false and null, and exponents.
        case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "f"), UInt8(ascii: "l"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "s"), UInt8(ascii: "t"),
            UInt8(ascii: "u"):
            break
        default: guard Self.isSpace(byte) else { throw error("no value has this byte") }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private func error(_ reason: String) -> JSONError { JSONError(offset: count, reason: reason) }
}
