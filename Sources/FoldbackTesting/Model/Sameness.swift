import Foldback

extension Projection {
    /// Whether two states are the same: by `==` where there is one, else by the bytes that the state codec
    /// writes, else by every stored property.
    static func areSame(_ a: Self, _ b: Self) -> Bool {
        if let a = a as? any Equatable { return isEqual(a, b) }
        if let codec = stateCodec, let bytes = try? codec.encode(a), bytes == (try? codec.encode(b))
        {
            return true
        }
        return StateText(a) == StateText(b)
    }

    private static func isEqual<E: Equatable>(_ a: E, _ b: Self) -> Bool {
        guard let b = b as? E else { return false }
        return a == b
    }
}
