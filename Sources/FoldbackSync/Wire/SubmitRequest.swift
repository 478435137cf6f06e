import Foldback

/// A request of ``Authority/submit(_:from:)`` as a value, for the wire between a device and a server.
///
/// ```swift
/// let request = SubmitRequest(intents, from: device)
/// let answer = try await client.post(request.jsonBytes())
/// return try Verdicts(jsonBytes: answer, answering: intents.first?.id.replica)
/// ```
///
/// ```
/// {"replica":"4f1e…","lineage":"9b6d…","through":90,"digest":"5f0c…",
///  "intents":[{"number":17,"format":[1,2],"event":{…},"time":1795209600000,"info":{"screen":"feed"}}]}
/// ```
/// If the intents are of several replicas, those of other replicas than the first have their own
/// member `"replica"`. That happens after a log was copied.
///
/// A server that does not know the app's types reads `SubmitRequest<RecordedEvent>`.
public struct SubmitRequest<Event: Sendable>: Sendable {
    /// The intents, ascending by number.
    public let intents: [Submission<Event>]
    /// What the device knows of the authority's data.
    public let device: SyncPoint

    public init(_ intents: [Submission<Event>], from device: SyncPoint) {
        self.intents = intents
        self.device = device
    }
}

extension SubmitRequest: Equatable where Event: Equatable {}

extension SubmitRequest: Encodable {
    /// Returns the request as JSON.
    public func json() -> JSON {
        let shared = intents.first?.id.replica
        var object: JSON.Object = [
            "intents": .array(intents.map { .object($0.members(besides: shared)) })
        ]
        object["replica"] = shared.map { .string($0.name) }
        return .object(device.added(to: object))
    }

    /// Returns the request as JSON text in UTF-8.
    public func jsonBytes() -> [UInt8] { json().encoded }

    public func encode(to encoder: any Encoder) throws { try json().encode(to: encoder) }
}

extension SubmitRequest: Decodable, JSONForm where Event: Decodable {
    /// Reads a request.
    ///
    /// - Throws: ``/Foldback/JSONFormError``, and errors of `Event`.
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "a request")
        let shared = try members.replicaIfPresent("replica")
        self.init(
            try members.array("intents").map { try Submission(json: $0, of: shared) },
            from: try SyncPoint(json: json))
    }
}
