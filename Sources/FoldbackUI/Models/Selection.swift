import Observation

/// A part of a model's view that is observed by itself; see
/// ``OptimisticModel/select(_:)``.
///
/// It keeps its model, so the value is up to date as long as the selection exists. Nobody else keeps
/// it: keep it in the screen's object or in `@State`, and never make it in a view's `body`.
@MainActor @Observable public final class Selection<Value: Equatable & Sendable> {
    /// The part of the present view. Observers are notified only if it differs.
    public private(set) var value: Value
    /// The model, and the membership in its selections.
    @ObservationIgnored private var kept: [AnyObject] = []

    init<View>(
        _ part: @escaping @Sendable (View) -> Value, of view: View, _ model: AnyObject,
        _ selections: PartList<ShowSelection<View>>
    ) {
        value = part(view)
        kept = [model, selections.add { [weak self] in self?.show(part($0)) }]
    }

    private func show(_ next: Value) {
        if next != value { value = next }
    }
}

/// Shows a selection of a view.
typealias ShowSelection<View> = @MainActor @Sendable (View) -> Void
