/// `{"position":91,"format":[1,2],"event":{…},"origin":{"replica":"4f1e…","intent":17}}`, without an
/// origin if there is none.
///
/// Events are read as bytes, so they can be of types that this program does not know. Only bytes
/// can be written: see ``recorded(by:)``.
extension ConfirmedEvent: JSONForm {
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "a confirmed event")
        self.init(
            position: try members.number("position"),
            recorded: try RecordedEvent(members: members),
            origin: try members["origin"].map { try IntentID(json: $0) })
    }

    public func json() throws -> JSON {
        var object = try delivered.added(to: ["position": .of(position)])
        object["origin"] = origin.map { .of($0) }
        return .object(object)
    }

    /// Returns this event as bytes that `codec` writes, if it is decoded.
    ///
    /// - Throws: errors of the codec.
    public func recorded(by codec: any EventCodec<Event>) throws -> ConfirmedEvent {
        ConfirmedEvent(
            position: position, delivered: try delivered.recorded(by: codec), origin: origin)
    }
}

extension DeliveredEvent {
    /// Returns this event as bytes that `codec` writes, if it is decoded.
    ///
    /// - Throws: errors of the codec.
    public func recorded(by codec: any EventCodec<Event>) throws -> DeliveredEvent {
        guard case .event(let event) = self else { return self }
        return .recorded(RecordedEvent(format: codec.format, bytes: try codec.encode(event)))
    }
}
