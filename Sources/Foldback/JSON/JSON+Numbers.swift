/// Values of a log as JSON, in the form of the command line and of files.
extension JSON {
    /// Returns a sequence, a position or an intent's number as JSON.
    public static func of(_ number: some LogNumber) -> JSON {
        Int64(exactly: number.value).map(JSON.integer) ?? .digits(String(number.value))
    }

    public static func of(_ numbers: [some LogNumber]) -> JSON { .array(numbers.map { .of($0) }) }

    public static func of(_ id: IntentID) -> JSON {
        ["replica": .string(id.replica.name), "intent": .of(id.number)]
    }

    /// The value of a whole number from 0 to 2^64 - 1; nil for anything else.
    public var unsignedValue: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .digits(let digits): UInt64(digits)
        case .null, .bool, .double, .string, .array, .object: nil
        }
    }

    /// Makes JSON of an event's bytes in a log. Bytes that are not JSON become a list of numbers.
    package init(logged bytes: [UInt8]) {
        do { self = try JSON(parsing: bytes) } catch {
            self = ["bytes": .array(bytes.map { .integer(Int64($0)) })]
        }
    }
}
