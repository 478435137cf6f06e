import Foldback

/// `{"accepted":{"position":91}}`, `{"accepted":{"position":92,"format":[1,2],"event":{…}}}`,
/// `{"rejected":{"code":"blocked","message":"…"}}`, or
/// `{"later":{"afterSeconds":30,"reason":"…"}}`.
///
/// A replacement is read as bytes, and only bytes can be written: see ``recorded(by:)``.
extension Verdict: JSONForm {
    public init(json: JSON) throws { try self.init(members: JSONMembers(json, of: "a verdict")) }

    public func json() throws -> JSON { .object(try added(to: [:])) }

    init(members: JSONMembers) throws {
        if let accepted = members["accepted"] {
            let members = try JSONMembers(accepted, of: "an acceptance")
            let isReplaced = (members["format"] ?? members["event"] ?? members["bytes"]) != nil
            self = .accepted(
                position: try members.numberIfPresent("position"),
                replacement: isReplaced ? .recorded(try RecordedEvent(members: members)) : nil)
        } else if let rejected = members["rejected"] {
            self = .rejected(try Rejection(json: rejected))
        } else if let later = members["later"] {
            let members = try JSONMembers(later, of: "a postponement")
            self = .later(
                after: try members.optional("afterSeconds", "a number of seconds", \.seconds),
                reason: try members.text("reason"))
        } else {
            throw JSONFormError("a verdict is \"accepted\", \"rejected\" or \"later\"")
        }
    }

    /// Returns the members of another value with those of the verdict.
    func added(to object: JSON.Object) throws -> JSON.Object {
        var object = object
        switch self {
        case .accepted(let position, let replacement):
            var accepted: JSON.Object = [:]
            accepted["position"] = position.map { .of($0) }
            if let replacement { accepted = try replacement.added(to: accepted) }
            object["accepted"] = .object(accepted)
        case .rejected(let rejection): object["rejected"] = rejection.json()
        case .later(let after, let reason):
            var later: JSON.Object = ["reason": .string(reason)]
            later["afterSeconds"] = after.map { JSON(seconds: $0) }
            object["later"] = .object(later)
        }
        return object
    }

    /// Returns this verdict with its replacement as bytes that `codec` writes.
    ///
    /// - Throws: errors of the codec.
    public func recorded(by codec: any EventCodec<Event>) throws -> Verdict {
        guard case .accepted(let position, let replacement?) = self else { return self }
        return .accepted(position: position, replacement: try replacement.recorded(by: codec))
    }
}

/// `{"replica":"4f1e…","verdicts":[{"number":17,"accepted":{…}}, …]}`, with `"lineage"` and `"head"`
/// if the authority has them.
///
/// If the verdicts are on intents of several replicas, those of other replicas than the first have
/// their own member `"replica"`. That happens after a log was copied.
///
/// Write answers with `jsonBytes()` and read them with ``init(jsonBytes:answering:)``. Foundation's
/// coders do not keep every number of the events: see ``/Foldback/JSONForm``.
extension Verdicts: JSONForm {
    public init(json: JSON) throws { try self.init(json: json, answering: nil) }

    /// Reads an answer that may not say which replica it is for.
    ///
    /// - Parameters:
    ///   - json: the answer.
    ///   - replica: the replica of the request's intents.
    /// - Throws: ``/Foldback/JSONFormError``.
    public init(json: JSON, answering replica: ReplicaID?) throws {
        let members = try JSONMembers(json, of: "an answer")
        let shared = try members.replicaIfPresent("replica") ?? replica
        var byIntent: [IntentID: Verdict<Event>] = [:]
        for verdict in try members.array("verdicts") {
            let members = try JSONMembers(verdict, of: "a verdict")
            let id = try IntentID(members: members, of: shared)
            guard byIntent.updateValue(try Verdict(members: members), forKey: id) == nil else {
                throw JSONFormError("there are two verdicts on intent \(id)")
            }
        }
        self.init(
            byIntent, lineage: try members.lineageIfPresent("lineage"),
            head: try members.numberIfPresent("head"))
    }

    /// Reads an answer from JSON text, as ``init(json:answering:)`` does.
    ///
    /// - Throws: ``/Foldback/JSONFormError``, ``/Foldback/JSONError``.
    public init(jsonBytes bytes: [UInt8], answering replica: ReplicaID?) throws {
        try self.init(json: try JSON(parsing: bytes), answering: replica)
    }

    public func json() throws -> JSON {
        // Ids alone are sorted, because unspecialized code would copy each verdict at each comparison.
        let ids = Array(byIntent.keys).inOrder
        let shared = ids.first?.replica
        let verdicts = try ids.map { id in
            guard let verdict = byIntent[id] else { preconditionFailure("no verdict on \(id)") }
            return JSON.object(try verdict.added(to: id.members(besides: shared)))
        }
        var object: JSON.Object = ["verdicts": .array(verdicts)]
        object["replica"] = shared.map { .string($0.name) }
        object["lineage"] = lineage.map { .string($0.name) }
        object["head"] = head.map { .of($0) }
        return .object(object)
    }

    /// Returns these verdicts with their replacements as bytes that `codec` writes.
    ///
    /// - Throws: errors of the codec.
    public func recorded(by codec: any EventCodec<Event>) throws -> Verdicts {
        Verdicts(
            try byIntent.mapValues { try $0.recorded(by: codec) }, lineage: lineage, head: head)
    }
}

extension [IntentID] {
    fileprivate var inOrder: [IntentID] {
        sorted { ($0.replica.name, $0.number) < ($1.replica.name, $1.number) }
    }
}

extension JSON {
    /// A duration in seconds: a whole number if it is one.
    init(seconds duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = attoseconds == 0 ? .integer(seconds) : .double(duration / .seconds(1))
    }

    /// The duration of a number of seconds, which may be negative; nil for anything else. At most
    /// about 100 years in both directions.
    var seconds: Duration? {
        let limit: Int64 = 3_200_000_000
        switch self {
        case .integer(let value): return .seconds(max(-limit, min(value, limit)))
        case .double(let value):
            return .seconds(max(-Double(limit), min(value, Double(limit))))
        default: return nil
        }
    }
}
