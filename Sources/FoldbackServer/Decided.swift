import Foldback

/// The state of a space: the app's own fold of the effects of all decisions.
///
/// A space's log is a log of these events, so every tool for logs works on it:
///
/// ```swift
/// @main struct FeedDecisions: ReplayTool {
///     static let projections = [ReplayProjection(Decided<Feed>.self)]
/// }
/// ```
public struct Decided<P: Projection>: Projection {
    public typealias Event = DecisionEvent<P.Event>
    public typealias Key = P.Key

    /// The fold of all effects.
    public internal(set) var state = P()
    /// The name of the data; nil in a new log.
    public internal(set) var founding: Founding?
    /// The highest version of the projection that has decided.
    var newestVersion: UInt32 = 0

    public init() {}

    public static var codec: any EventCodec<DecisionEvent<P.Event>> {
        DecisionCodec(inner: P.codec)
    }
    public static var name: String { "decided \(P.name)" }
    public static var version: UInt32 { P.version }
    public static var stateCodec: (any StateCodec<Self>)? {
        P.stateCodec.map { DecidedStateCodec(inner: $0) }
    }

    /// - Throws: the error of the app's `apply`. The decision is then a fault (F9). An effect of an earlier
    ///   version of the projection may not apply any more: a ``Space`` tolerates such faults.
    public mutating func apply(
        _ event: DecisionEvent<P.Event>, _ context: EventContext
    ) throws {
        switch event {
        case .founded(let founding): self.founding = founding
        case .decided(let decision):
            if let effect = decision.effect {
                // This is specialized in the app's module.
                try P._apply(effect.payload.readEvent, context, to: &state)
            }
            newestVersion = max(newestVersion, decision.version)
        }
    }

    public static func keys(
        touchedBy event: DecisionEvent<P.Event>, _ context: EventContext
    ) -> [P.Key] {
        guard case .decided(let decision) = event, let effect = decision.effect else { return [] }
        return P.keys(touchedBy: effect.event, context)
    }
}

extension Decided: Equatable where P: Equatable {}

/// A space's state in a checkpoint: lineage and replica, or empty texts; the newest version; for a space in
/// a table, marked by a high bit of the version, timeline and loss; then the app's state.
private struct DecidedStateCodec<P: Projection>: StateCodec {
    let inner: any StateCodec<P>
    private var inTable: UInt64 { 1 << 32 }

    func encode(_ decided: Decided<P>) throws -> [UInt8] {
        var output = OutputBuffer()
        output.append(decided.founding?.lineage.description ?? "")
        output.append(decided.founding?.replica.description ?? "")
        let timeline = decided.founding?.timeline
        output.append(variable: UInt64(decided.newestVersion) | (timeline == nil ? 0 : inTable))
        if let timeline {
            output.append(variable: UInt64(timeline))
            output.append(decided.founding?.loss ?? "")
        }
        output.append(bytes: try inner.encode(decided.state))
        return output.bytes
    }

    func decode(_ bytes: RawSpan) throws -> Decided<P> {
        var cursor = InputCursor()
        var decided = Decided<P>()
        let lineage = Lineage(try cursor.text(in: bytes))
        let replica = ReplicaID(try cursor.text(in: bytes))
        let marked = try cursor.variable(in: bytes)
        guard let version = UInt32(exactly: marked & ~inTable) else { throw InputError.outOfRange }
        decided.newestVersion = version
        var (timeline, loss): (UInt32?, String?) = (nil, nil)
        if marked & inTable != 0 {
            timeline = UInt32(exactly: try cursor.variable(in: bytes))
            loss = try cursor.text(in: bytes)
        }
        if let lineage, let replica {
            decided.founding = Founding(
                lineage: lineage, replica: replica, timeline: timeline,
                loss: loss == "" ? nil : loss)
        }
        decided.state = try inner.decode(bytes.extracting(cursor.offset..<bytes.byteCount))
        return decided
    }
}
