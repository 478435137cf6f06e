extension JSON {
    /// Whether the value that parsing returns has all digits of each number in this text.
    ///
    /// The parser reads a number with a fraction or an exponent as a double, which has 17 digits at
    /// most. It reads -0 as 0.
    ///
    /// - Parameter bytes: JSON text that can be parsed.
    /// - Complexity: O(n) in the text.
    static func keepsNumbers(of bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
                    offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
                }
                offset += 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = bytes[offset...].firstIndex { !isOfNumber($0) } ?? bytes.count
                let text = Array(bytes[offset..<end])
                guard let value = try? JSON(parsing: text),
                    let number = Decimal(text), number == Decimal(value.encoded)
                else { return false }
                offset = end
            default: offset += 1
            }
        }
        return true
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}

/// The exact value of a JSON number: its sign, its digits without zeros at both ends, and the power
/// of ten of the last digit. Zero keeps its sign.
private struct Decimal: Equatable {
    private let isNegative: Bool
    private var digits: [UInt8] = []
    private var power = 0

    /// Reads the text of a JSON number; nil if the exponent has more than 64 bits.
    init?(_ text: [UInt8]) {
        var rest = text[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let mark = rest.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        if let mark {
            guard let exponent = Int(String(decoding: rest[(mark + 1)...], as: UTF8.self)),
                exponent.magnitude < 1 << 32
            else { return nil }
            power = exponent
        }
        let mantissa = rest[..<(mark ?? rest.endIndex)]
        let parts = mantissa.split(separator: UInt8(ascii: "."))
        if parts.count == 2 { power -= parts[1].count }
        let zero = UInt8(ascii: "0")
        digits = Array(parts.joined().drop { $0 == zero })
        while digits.last == zero {
            digits.removeLast()
            power += 1
        }
        if digits.isEmpty { power = 0 }
    }
}
