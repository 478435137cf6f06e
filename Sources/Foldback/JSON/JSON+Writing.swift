extension JSON: CustomStringConvertible {
    /// The reason why JSON text cannot represent the value so that parsing returns it; nil if it
    /// can.
    ///
    /// The parser never makes such a value, but code can.
    var flaw: String? { flaw(depthLeft: Self.depthMax) }

    private func flaw(depthLeft: Int) -> String? {
        switch self {
        case .null, .bool, .integer, .string: return nil
        case .double(let value): return value.isFinite ? nil : "JSON has no \(value)"
        case .digits(let digits):
            let isLong = Int64(digits) == nil && !digits.drop { $0 == "-" }.hasPrefix("0")
            let isNumber = (try? JSON(parsing: digits)) == self
            return isLong && isNumber ? nil : "\(digits) is not a whole number of more than 64 bits"
        case .array(let elements): return Self.flaw(of: elements, depthLeft: depthLeft)
        case .object(let object):
            return Self.flaw(of: object.members.lazy.map(\.value), depthLeft: depthLeft)
        }
    }

    private static func flaw(of elements: some Sequence<JSON>, depthLeft: Int) -> String? {
        guard depthLeft > 0 else { return "it has more than \(depthMax) levels" }
        for element in elements {
            if let flaw = element.flaw(depthLeft: depthLeft - 1) { return flaw }
        }
        return nil
    }

    /// The value as JSON text in UTF-8.
    ///
    /// Members are in order of their names' bytes. There are no spaces and no unnecessary escapes.
    /// Equal values have equal bytes.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        // Most events are smaller, so the array does not grow.
        bytes.reserveCapacity(128)
        write(to: &bytes, isPrinting: false)
        return bytes
    }

    /// The value as JSON text for terminals and files that people look at: ``encoded``, with
    /// escapes for characters that move the cursor, end a line or change the direction of text.
    ///
    /// Parsing returns the same value. The bytes that a log stores are always ``encoded``.
    public var printed: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, isPrinting: true)
        return bytes
    }

    public var description: String { String(decoding: encoded, as: UTF8.self) }

    private func write(to bytes: inout [UInt8], isPrinting: Bool) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: value.description.utf8)
        case .double(let value):
            precondition(value.isFinite, "JSON has no \(value)")
            bytes.append(contentsOf: value.description.utf8)
        case .digits(let digits): bytes.append(contentsOf: digits.utf8)
        case .string(let value): Self.write(value.string, to: &bytes, isPrinting)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes, isPrinting: isPrinting)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, (name, value)) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(name.string, to: &bytes, isPrinting)
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes, isPrinting: isPrinting)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8], _ isPrinting: Bool) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        var text = text
        let isPlain = text.withUTF8 { utf8 in
            let isPlain = utf8.allSatisfy {
                $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
                    && (!isPrinting || $0 < 0x7F)
            }
            if isPlain { bytes.append(contentsOf: utf8) }
            return isPlain
        }
        guard !isPlain else { return }
        guard isPrinting else { return write(escaped: text.utf8, to: &bytes) }
        for scalar in text.unicodeScalars {
            if scalar.value >= 0x7F, scalar.isDisplayControl {
                // All of them have at most four digits.
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                bytes.append(contentsOf: "\\u\(zeros)\(digits)".utf8)
            } else {
                write(escaped: scalar.utf8, to: &bytes)
            }
        }
    }

    /// Writes bytes of a string with the escapes that JSON needs.
    private static func write(escaped utf8: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x08: bytes.append(contentsOf: "\\b".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0C: bytes.append(contentsOf: "\\f".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: "\\u00\(digits.count < 2 ? "0" : "")\(digits)".utf8)
            default: bytes.append(byte)
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether the character moves the cursor, ends a line or changes the direction of text: the
    /// general categories Cc, Zl and Zp, and the property Bidi_Control (Unicode 16).
    package var isDisplayControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
