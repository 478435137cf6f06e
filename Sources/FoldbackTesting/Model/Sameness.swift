import Foldback

extension Projection {
    /// Whether two states are the same: by `==` where there is one, or by the bytes that the state codec
    /// writes where there is none, or by every stored property. The last holds for a NaN as well, which
    /// is not equal to itself. States that rows stand beside: by every byte, those of indexes too.
    static func areSame(_ a: Self, _ b: Self) -> Bool {
        if let a = a as? any RowModel { return isEqual(a, b) }
        if let a = a as? any Equatable {
            if isEqual(a, b) { return true }
        } else if let codec = stateCodec, let bytes = try? codec.encode(a),
            bytes == (try? codec.encode(b))
        {
            return true
        }
        return StateText(a) == StateText(b)
    }

    private static func isEqual<E: Equatable>(_ a: E, _ b: Self) -> Bool {
        guard let b = b as? E else { return false }
        return a == b
    }

    /// Two that differ, as lines that do.
    static func texts(_ a: Self, _ b: Self) -> (StateText, StateText) {
        let (first, second) = (StateText(a), StateText(b))
        guard first == second, let a = a as? any RowModel, let b = b as? any RowModel
        else { return (first, second) }
        return (StateText(a.asKept), StateText(b.asKept))
    }
}
