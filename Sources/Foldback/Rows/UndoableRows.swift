/// A stored projection that knows which event reverses an event. See ``Undoable``.
public protocol UndoableRows: StoredProjection {
    /// Returns the event that takes back the effect of `event`; nil if none does.
    ///
    /// `rows` are those before the event. What this writes into them is dropped.
    ///
    /// - Throws: any error; then nothing reverses the event.
    static func inverse(
        of event: Event, in rows: inout TouchedRows, _ context: EventContext
    ) throws -> Event?
}

/// The inverse of an event on rows, without the event's type.
typealias RowInverter = @Sendable (Payload, EventContext, inout TouchedRows) -> Payload?

extension StoredProjection {
    /// The projection's inverse; nil if it is not ``UndoableRows``.
    static var inverter: RowInverter? {
        func inverter<U: UndoableRows>(_: U.Type) -> RowInverter {
            let codec = U.codec
            return { payload, context, rows in
                guard let event = payload.event(as: U.Event.self) else { return nil }
                return codec.inversePayload(
                    of: try? U.inverse(of: event, in: &rows, context))
            }
        }
        return (Self.self as? any UndoableRows.Type).map { inverter($0) }
    }
}
