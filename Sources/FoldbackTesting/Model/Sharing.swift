import Foldback
import FoldbackHistory

/// A projection on a log with another one with which it shares its conflicts: what
/// ``checkLaws(of:also:events:itemIDs:laws:effort:coverage:seed:failures:file:)`` checks, and what its
/// reports name.
///
/// The state is that of the first projection. The laws also fold the second one: each of the two
/// leaves out the intents that the other refuses.
public struct Sharing<P: Projection, Other: EventFold>: Projection where Other.Event == P.Event {
    public typealias Event = P.Event
    public typealias Key = P.Key

    /// The state of the first projection.
    public private(set) var state: P

    /// Creates the state before the first event.
    public init() { state = P() }

    private init(_ state: P) { self.state = state }

    public static var codec: any EventCodec<P.Event> { P.codec }
    public static var name: String { "\(P.name) with \(Other.name)" }
    public static var version: UInt32 { P.version }
    public static var stateCodec: (any StateCodec<Self>)? {
        P.stateCodec.map { SharingCodec(codec: $0) }
    }

    public mutating func apply(_ event: P.Event, _ context: EventContext) throws {
        try state.apply(event, context)
    }

    public static func keys(touchedBy event: P.Event, _ context: EventContext) -> [P.Key] {
        P.keys(touchedBy: event, context)
    }

    private struct SharingCodec: StateCodec {
        let codec: any StateCodec<P>

        func encode(_ state: Sharing) throws -> [UInt8] { try codec.encode(state.state) }
        func decode(_ bytes: RawSpan) throws -> Sharing { Sharing(try codec.decode(bytes)) }
    }
}

extension Sharing: TraceableProjection where P: TraceableProjection {
    public static func places(
        touchedBy event: P.Event, _ context: EventContext
    ) -> [JSONPointer]? { P.places(touchedBy: event, context) }

    public func part(at key: P.Key) -> P.Part? { state.part(at: key) }
}

extension Sharing: Equatable where P: Equatable {}

extension Sharing: CustomReflectable {
    public var customMirror: Mirror { Mirror(reflecting: state) }
}

/// A projection with others on its log.
protocol SharingProjection {
    /// The name of the first projection.
    static var ownName: String { get }
    static var others: [any EventFold.Type] { get }
}

extension Sharing: SharingProjection {
    static var ownName: String { P.ownName }
    static var others: [any EventFold.Type] {
        ((P.self as? any SharingProjection.Type)?.others ?? []) + [Other.self]
    }
}

extension Projection {
    /// The projection's name, without those of the projections beside it.
    static var ownName: String { (Self.self as? any SharingProjection.Type)?.ownName ?? name }

    /// The projections with which this one shares its conflicts, in memory, for the reference
    /// model.
    static var othersInMemory: [any Projection.Type] {
        func inMemory<Q: StoredProjection>(_: Q.Type) -> any Projection.Type {
            RowsInMemory<Q>.self
        }
        return ((Self.self as? any SharingProjection.Type)?.others ?? []).map { type in
            switch type {
            case let type as any Projection.Type: type
            case let type as any StoredProjection.Type: inMemory(type)
            default: preconditionFailure("\(type) is neither a Projection nor a StoredProjection")
            }
        }
    }

    /// The same for a store.
    static var othersInStore: [AdditionalProjection<Event>] {
        func additional<Q: EventFold>(_: Q.Type) -> AdditionalProjection<Event>? {
            AdditionalProjection(Q.self) as Any as? AdditionalProjection<Event>
        }
        return ((Self.self as? any SharingProjection.Type)?.others ?? [])
            .compactMap { additional($0) }
    }
}
