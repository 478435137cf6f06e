import Foldback

/// Decisions as bytes, around the bytes of the app's own events.
///
/// | field | bytes |
/// |---|---|
/// | tag | 1: 0 founded, 1 accepted, 2 reworded, 3 accepted without an effect, 4 rejected, 5 rejected with a code, 6 founded in a table |
/// | founded | lineage, replica: texts; for 6 also timeline: LEB128; loss: text, empty if there is none |
/// | decided | position, version: LEB128; account: text; digest: 8 |
/// | then for 1 and 2 | codec: 1; version: LEB128; the event: all further bytes |
/// | for 4 and 5 | message, and for 5 code: texts |
struct DecisionCodec<Event: Sendable>: EventCodec {
    let inner: any EventCodec<Event>
    /// The app's codec again, if it notes members.
    private let members: (any MemberCodec<Event>)?

    init(inner: any EventCodec<Event>) {
        self.inner = inner
        members = inner as? any MemberCodec<Event>
    }

    /// Codec 2 is that of decisions.
    var format: EventFormat { EventFormat(codec: 2, version: 1) }

    func encode(_ event: DecisionEvent<Event>) throws -> [UInt8] {
        var output = OutputBuffer(capacity: 256)
        switch event {
        case .founded(let founding):
            output.append(founding.timeline == nil ? Tag.founded : Tag.foundedInTable)
            output.append(founding.lineage.description)
            output.append(founding.replica.description)
            if let timeline = founding.timeline {
                output.append(variable: UInt64(timeline))
                output.append(founding.loss ?? "")
            }
        case .decided(let decision): encode(decision, into: &output)
        }
        return output.bytes
    }

    private func encode(_ decision: Decision<Event>, into output: inout OutputBuffer) {
        switch decision.outcome {
        case .accepted: output.append(Tag.accepted)
        case .reworded(.some): output.append(Tag.reworded)
        case .reworded(nil): output.append(Tag.withoutEffect)
        case .rejected(let rejection):
            output.append(rejection.code == nil ? Tag.rejected : Tag.rejectedWithCode)
        }
        output.append(variable: decision.position.value)
        output.append(variable: UInt64(decision.version))
        output.append(decision.account.description)
        output.append(decision.digest)
        if let effect = decision.effect {
            let payload = effect.payload
            output.append(payload.format.codec)
            output.append(variable: UInt64(payload.format.version))
            output.append(bytes: payload.bytes)
        } else if case .rejected(let rejection) = decision.outcome {
            output.append(rejection.message)
            if let code = rejection.code { output.append(code) }
        }
    }

    func decode(_ bytes: RawSpan, format: EventFormat) throws -> DecisionEvent<Event> {
        guard format == self.format else { throw UnknownDecision(format: format) }
        var cursor = InputCursor()
        let tag: UInt8 = try cursor.number(in: bytes)
        switch tag {
        case Tag.founded, Tag.foundedInTable:
            return .founded(try founding(tag, &cursor, bytes))
        default: return .decided(try decision(tag, &cursor, bytes))
        }
    }

    private func founding(
        _ tag: UInt8, _ cursor: inout InputCursor, _ bytes: RawSpan
    ) throws -> Founding {
        let lineage = Lineage(try cursor.text(in: bytes))
        let replica = ReplicaID(try cursor.text(in: bytes))
        var (timeline, loss): (UInt32?, String?) = (nil, nil)
        if tag == Tag.foundedInTable {
            timeline = UInt32(exactly: try cursor.variable(in: bytes))
            guard timeline != nil else { throw InputError.outOfRange }
            loss = try cursor.text(in: bytes)
        }
        try cursor.requireEnd(of: bytes)
        guard let lineage, let replica else { throw InputError.outOfRange }
        return Founding(
            lineage: lineage, replica: replica, timeline: timeline, loss: loss == "" ? nil : loss)
    }

    private func decision(
        _ tag: UInt8, _ cursor: inout InputCursor, _ bytes: RawSpan
    ) throws -> Decision<Event> {
        let position = Position(try cursor.variable(in: bytes))
        let version = UInt32(exactly: try cursor.variable(in: bytes))
        let account = Account(try cursor.text(in: bytes))
        guard let version, let account else { throw InputError.outOfRange }
        let digest: UInt64 = try cursor.number(in: bytes)
        let outcome: Decision<Event>.Outcome
        switch tag {
        case Tag.accepted: outcome = .accepted(try effect(&cursor, bytes))
        case Tag.reworded: outcome = .reworded(try effect(&cursor, bytes))
        case Tag.withoutEffect: outcome = .reworded(nil)
        case Tag.rejected, Tag.rejectedWithCode:
            let message = try cursor.text(in: bytes)
            let code = tag == Tag.rejected ? nil : try cursor.text(in: bytes)
            outcome = .rejected(Rejection(code: code, message: message))
        default: throw InputError.unknownTag(UInt64(tag))
        }
        try cursor.requireEnd(of: bytes)
        return Decision(
            position: position, account: account, version: version, digest: digest,
            outcome: outcome)
    }

    private func effect(_ cursor: inout InputCursor, _ bytes: RawSpan) throws -> Effect<Event> {
        let codec: UInt8 = try cursor.number(in: bytes)
        guard let version = UInt16(exactly: try cursor.variable(in: bytes)) else {
            throw InputError.outOfRange
        }
        let format = EventFormat(codec: codec, version: version)
        let event = try cursor.bytes(bytes.byteCount - cursor.offset, in: bytes)
        return Effect(
            event: try inner.decode(event.span.bytes, format: format), format: format, bytes: event)
    }
}

extension DecisionCodec: MemberCodec {
    var namesMembers: Bool { true }
    var ignoredMembers: Set<String> { members?.ignoredMembers ?? [] }
    var fresh: any EventCodec<DecisionEvent<Event>> { withFreshMembers }

    func knowsMembers(
        in bytes: RawSpan, format: EventFormat, of event: DecisionEvent<Event>
    ) -> Bool {
        guard case .decided(let decision) = event, let effect = decision.effect else { return true }
        return knowsMembers(of: effect)
    }

    func membersLeft(
        in bytes: RawSpan, format: EventFormat, by event: DecisionEvent<Event>
    ) -> Set<ExactString> {
        guard case .decided(let decision) = event, let effect = decision.effect else { return [] }
        return membersLeft(of: effect)
    }

    /// Returns whether nothing is left of an effect, by what the app's codec has read before. It learns
    /// nothing from the effect.
    func knowsMembers(of effect: Effect<Event>) -> Bool {
        guard !isNewer(effect) else { return false }
        guard let members, members.namesMembers else { return true }
        let bytes = effect.payload.bytes
        return members.knowsMembers(
            in: bytes.span.bytes, format: effect.payload.format, of: effect.event)
    }

    /// Returns the members that the app's codec leaves of an effect; `/format` too if a newer codec wrote
    /// it.
    func membersLeft(of effect: Effect<Event>) -> Set<ExactString> {
        var left: Set<ExactString> = []
        if let members, members.namesMembers {
            let bytes = effect.payload.bytes
            left = members.membersLeft(
                in: bytes.span.bytes, format: effect.payload.format, by: effect.event)
        }
        if isNewer(effect) { left.insert(ExactString("/format")) }
        return left
    }

    /// Returns the effect of a decision; nil if it has none, or if this code cannot read it.
    func effect(of recorded: RecordedEvent) -> Effect<Event>? {
        let event = try? decode(recorded.bytes.span.bytes, format: recorded.format)
        guard case .decided(let decision)? = event else { return nil }
        return decision.effect
    }

    /// Returns whether the app's codec leaves nothing of an effect, if it had read nothing before.
    func readsWholeAlone(_ effect: Effect<Event>) -> Bool {
        withFreshMembers.membersLeft(of: effect).isEmpty
    }

    /// The same codec before it has read anything.
    var withFreshMembers: DecisionCodec { DecisionCodec(inner: members?.fresh ?? inner) }

    /// Returns whether a newer version of the app's codec wrote an effect.
    func isNewer(_ effect: Effect<Event>) -> Bool {
        let (written, own) = (effect.payload.format, inner.format)
        return written.codec == own.codec && written.version > own.version
    }
}

private enum Tag {
    static let founded: UInt8 = 0
    static let accepted: UInt8 = 1
    static let reworded: UInt8 = 2
    static let withoutEffect: UInt8 = 3
    static let rejected: UInt8 = 4
    static let rejectedWithCode: UInt8 = 5
    static let foundedInTable: UInt8 = 6
}

/// The error for bytes that are not a decision.
private struct UnknownDecision: Error, CustomStringConvertible {
    let format: EventFormat
    var description: String { "events of \(format) are not decisions of this code" }
}
