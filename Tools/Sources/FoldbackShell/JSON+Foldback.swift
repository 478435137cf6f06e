import Foldback

extension JSON {
    static func number(_ number: some LogNumber) -> JSON {
        Int64(exactly: number.value).map(JSON.integer) ?? .digits(String(number.value))
    }

    /// A whole number from 0 up to 64 bits.
    var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .digits(let digits): UInt64(digits)
        case .null, .bool, .double, .string, .array, .object: nil
        }
    }

    static func numbers(_ numbers: [some LogNumber]) -> JSON { .array(numbers.map { .number($0) }) }
}
