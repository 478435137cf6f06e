/// Any coder can carry JSON. Foundation's coders do not keep the difference between 1 and 1.0, and
/// refuse or round whole numbers of more than 64 bits. `JSON(parsing:)` and ``JSON/encoded`` keep
/// everything.
extension JSON: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(UInt64.self) {
            self = .digits(String(number))
        } else if let number = try? value.decode(Double.self) {
            self = .double(number)
        } else if let elements = try? value.decode([JSON].self) {
            self = .array(elements)
        } else {
            let members = try value.decode([String: JSON].self)
            self = .object(Object(lastOf: members.map { (ExactString($0.key), $0.value) }))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .integer(let number): try value.encode(number)
        case .double(let number): try value.encode(number)
        case .digits(let digits):
            guard let number = UInt64(digits) else {
                throw EncodingError.invalidValue(
                    self,
                    EncodingError.Context(
                        codingPath: encoder.codingPath,
                        debugDescription: "\(digits) has more than 64 bits"))
            }
            try value.encode(number)
        case .string(let string): try value.encode(string.string)
        case .array(let elements): try value.encode(elements)
        case .object(let object):
            // A dictionary and not keys: an encoder may be told to change the names of keys.
            let members = object.members.map { ($0.name.string, $0.value) }
            try value.encode(Dictionary(members, uniquingKeysWith: { $1 }))
        }
    }
}
