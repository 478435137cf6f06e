import Foundation

/// Returns a value as JSON in one line.
func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { return Array(try encoder.encode(value)) } catch {
        preconditionFailure("\(value) cannot be encoded: \(error)")
    }
}

/// Returns the name of an enum's case without its values: the word for it in messages.
func caseName(_ value: some Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
}
