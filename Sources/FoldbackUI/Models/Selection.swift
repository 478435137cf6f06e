import Observation

/// A part of what a model shows that is observed by itself; see ``OptimisticModel/select(_:)`` and
/// ``RowsModel/select(_:)``.
///
/// It keeps its model, so the value is up to date as long as the selection exists. Nobody else keeps
/// it: keep it in the screen's object or in `@State`, and never make it in a view's `body`.
@MainActor @Observable public final class Selection<Value: Equatable & Sendable> {
    /// The present part. Observers are notified only if it differs.
    public var value: Value {
        access(keyPath: \.value)
        return shown
    }

    /// Without a generated setter, which would compare the values again.
    @ObservationIgnored private var shown: Value
    /// The model, and the membership in its parts.
    @ObservationIgnored private var kept: [AnyObject] = []

    /// - Parameters:
    ///   - model: is kept as long as the selection.
    ///   - add: makes a part of the model that calls ``show(_:)`` with each other value.
    init(_ first: Value, of model: AnyObject, _ add: (Selection) -> AnyObject) {
        shown = first
        kept = [model, add(self)]
    }

    /// Shows a value that differs from the value shown.
    func show(_ next: Value) { withMutation(keyPath: \.value) { shown = next } }
}

/// A read of a model's rows that is repeated when the rows may have changed; see
/// ``RowsModel/select(_:)``.
///
/// The value is the result of the last read: loading until the first read. A failed read is a
/// failure, and is repeated with the next update.
public typealias RowSelection<Value: Equatable & Sendable> = Selection<
    RemoteData<Value, ReadFailure>
>
