import Foldback

/// An older version of a projection under the name of the newer one, as it is on a device that
/// updates: a program that has both versions gives them different names.
struct Posed<Old: Projection, New: EventFold>: Projection {
    typealias Event = Old.Event

    private var state = Old()

    static var name: String { New.name }
    static var version: UInt32 { Old.version }
    static var codec: any EventCodec<Event> { Old.codec }
    static var stateCodec: (any StateCodec<Self>)? {
        Old.stateCodec.map { PosedCodec(codec: $0) }
    }

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        try state.apply(event, context)
    }

    private struct PosedCodec: StateCodec, MemberNaming {
        let codec: any StateCodec<Old>

        func encode(_ posed: Posed) throws -> [UInt8] { try codec.encode(posed.state) }
        func decode(_ bytes: RawSpan) throws -> Posed {
            var posed = Posed()
            posed.state = try codec.decode(bytes)
            return posed
        }
        var naming: (any MemberNames)? { (codec as? any MemberNaming)?.naming }
    }
}

/// An older version of a stored projection under the name and the schema of the newer one.
struct PosedRows<Old: StoredProjection, New: StoredProjection>: StoredProjection {
    typealias Event = Old.Event

    static var name: String { New.name }
    static var version: UInt32 { Old.version }
    static var codec: any EventCodec<Event> { Old.codec }
    static var schema: RowSchema { Old.schema.standing(for: New.schema) }

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws { try Old.apply(event, context, to: &rows) }
}
