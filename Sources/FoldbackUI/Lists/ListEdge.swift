/// An end of a section, where more rows can arrive.
public enum ListEdge: Hashable, Sendable, CaseIterable {
    /// Before the first row.
    case start
    /// After the last row.
    case end
}

extension ListEdge {
    /// The other edge.
    var opposite: ListEdge { self == .start ? .end : .start }
}

/// A value for each edge.
struct EdgePair<Value> {
    var start: Value
    var end: Value

    subscript(edge: ListEdge) -> Value {
        get { edge == .start ? start : end }
        set { if edge == .start { start = newValue } else { end = newValue } }
    }
}

extension EdgePair: Equatable where Value: Equatable {}
extension EdgePair: Sendable where Value: Sendable {}
