/// Compares events of a store's type by what the store's codec encodes of them, for code that does
/// not know the type.
///
/// One object for each store. A payload that the authority delivered refers to it.
package final class EventComparison: Sendable {
    private let encode: @Sendable (any Sendable) throws -> [UInt8]

    /// - Parameter encode: writes an event of the type that the store's codec reads.
    package init(encodingWith encode: @escaping @Sendable (any Sendable) throws -> [UInt8]) {
        self.encode = encode
    }

    /// Returns whether the codec encodes both events as the same bytes; false if it cannot encode
    /// one of them.
    package func encodesAlike(_ a: any Sendable, _ b: any Sendable) -> Bool {
        do { return try encode(a) == encode(b) } catch { return false }
    }
}
