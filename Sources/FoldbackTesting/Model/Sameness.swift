import Foldback

extension Projection {
    /// Whether two states are the same: by `==`, or without it by the bytes of the state codec, or
    /// by every stored property. The last also works for NaN, which does not equal itself. States
    /// with stored rows are compared by every byte, index entries included.
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

    /// Two different states, as lines that differ.
    static func texts(_ a: Self, _ b: Self) -> (StateText, StateText) {
        let (first, second) = (StateText(a), StateText(b))
        guard first == second, let a = a as? any RowModel, let b = b as? any RowModel
        else { return (first, second) }
        return (StateText(a.asStored), StateText(b.asStored))
    }
}
