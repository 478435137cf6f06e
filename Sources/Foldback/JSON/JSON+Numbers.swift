/// What a log has, as JSON: the form of the command line and of files.
extension JSON {
    /// A sequence, position or intent's number.
    public static func of(_ number: some LogNumber) -> JSON {
        Int64(exactly: number.value).map(JSON.integer) ?? .digits(String(number.value))
    }

    public static func of(_ numbers: [some LogNumber]) -> JSON { .array(numbers.map { .of($0) }) }

    public static func of(_ id: IntentID) -> JSON {
        ["replica": .string(id.replica.name), "intent": .of(id.number)]
    }

    /// The value, where this is a whole number from 0 up to 64 bits.
    public var unsignedValue: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .digits(let digits): UInt64(digits)
        case .null, .bool, .double, .string, .array, .object: nil
        }
    }

    /// An event as it is in a log; bytes that are no JSON as a list of numbers.
    package init(logged bytes: [UInt8]) {
        do { self = try JSON(parsing: bytes) } catch {
            self = ["bytes": .array(bytes.map { .integer(Int64($0)) })]
        }
    }
}
