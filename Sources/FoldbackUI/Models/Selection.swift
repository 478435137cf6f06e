import Observation

/// A part of a model's view that is observed by itself; see
/// ``OptimisticModel/select(_:)``.
///
/// It keeps its model, so the value is up to date as long as the selection exists.
@MainActor @Observable public final class Selection<Value: Equatable & Sendable> {
    /// The part of the present view. Observers are notified only if it differs.
    public private(set) var value: Value
    @ObservationIgnored private let model: AnyObject

    init(_ value: Value, of model: AnyObject) {
        self.value = value
        self.model = model
    }

    func show(_ next: Value) {
        if next != value { value = next }
    }
}

/// A selection of a model of `View`, without the type of its value.
@MainActor protocol SelectionUpdating<View> {
    associatedtype View

    /// Returns false if the selection does not exist any more.
    func update(from view: View) -> Bool
}

/// A model's reference to a selection. The selection's owner keeps it.
@MainActor struct WeakSelection<View, Value: Equatable & Sendable>: SelectionUpdating {
    private weak var selection: Selection<Value>?
    private let part: @Sendable (View) -> Value

    init(_ selection: Selection<Value>, _ part: @escaping @Sendable (View) -> Value) {
        self.selection = selection
        self.part = part
    }

    func update(from view: View) -> Bool {
        guard let selection else { return false }
        selection.show(part(view))
        return true
    }
}
