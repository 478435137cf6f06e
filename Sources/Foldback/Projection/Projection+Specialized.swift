/// The default and only implementation of the hidden requirement of ``Projection``.
///
/// A log can have several projections, so its folds know neither the type of a state nor the type
/// of its events. Generic code of this module looks up the layout and the conformances of these
/// types at each use. A fold calls this function instead. Each conformance has its own copy of it,
/// and the compiler specializes it in the app's module, where the types are known.
extension Projection {
    @inlinable
    public static func _apply(
        _ event: any Sendable, _ context: EventContext, to state: inout Self
    ) throws {
        try state.apply(_typed(event), context)
    }

    @inlinable
    static func _typed(_ event: any Sendable) -> Event {
        guard let event = event as? Event else {
            preconditionFailure("the event has type \(type(of: event)), not \(Event.self)")
        }
        return event
    }
}
