import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `{"replica":"4f1e…","number":17,"format":[1,2],"event":{…},"time":1795209600000}`, with `"info"`
/// and `"lane"` if there is any.
extension Submission: Encodable {
    /// Returns the intent as JSON, with the event as it was recorded.
    public func json() -> JSON { .object(members(besides: nil)) }

    public func encode(to encoder: any Encoder) throws { try json().encode(to: encoder) }

    /// Returns the members; without the replica if that is `shared`.
    func members(besides shared: ReplicaID?) -> JSON.Object {
        var object = recorded.added(to: id.members(besides: shared))
        object["time"] = .integer(time.millisecondsSince1970)
        object["lane"] = lane.map { .integer(Int64($0)) }
        if !info.isEmpty {
            var texts: JSON.Object = [:]
            for (key, value) in info { texts[ExactString(key)] = .string(value) }
            object["info"] = .object(texts)
        }
        return object
    }
}

/// An event of codec 1 is read by its `Decodable`, and any event as a ``/Foldback/RecordedEvent``.
/// To read other codecs, read `Submission<RecordedEvent>` and call ``read(by:)``.
///
/// A missing `"time"` is read as 1970.
extension Submission: Decodable, JSONForm where Event: Decodable {
    public init(json: JSON) throws { try self.init(json: json, of: nil) }

    init(json: JSON, of replica: ReplicaID?) throws {
        let members = try JSONMembers(json, of: "an intent")
        let recorded = try RecordedEvent(members: members)
        let time = try members.optional("time", "milliseconds since 1970", \.integerValue)
        let lane = try members.optional("lane", "a number", \.integerValue)
        self.init(
            id: try IntentID(members: members, of: replica),
            event: try Self.event(of: recorded), recorded: recorded,
            time: Timestamp(millisecondsSince1970: time ?? 0),
            info: try members.optional("info", "an object of texts", \.texts) ?? [:],
            lane: lane.flatMap { Int(exactly: $0) })
    }

    private static func event(of recorded: RecordedEvent) throws -> Event {
        if let event = recorded as? Event { return event }
        guard recorded.format.codec == EventFormat.json.codec else {
            throw JSONFormError(
                "an event of \(recorded.format) cannot be read as JSON; read a "
                    + "Submission<RecordedEvent> and call read(by:)")
        }
        do { return try JSONDecoder().decode(Event.self, from: Data(recorded.bytes)) } catch {
            throw JSONFormError("an event of \(recorded.format) cannot be read: \(error)")
        }
    }
}

extension Submission where Event == RecordedEvent {
    /// Returns the intent with its event as `codec` reads it.
    ///
    /// - Throws: errors of the codec, if this code cannot read the event.
    public func read<Read>(by codec: any EventCodec<Read>) throws -> Submission<Read> {
        Submission<Read>(
            id: id, event: try codec.decode(recorded.bytes.span.bytes, format: recorded.format),
            recorded: recorded, time: time, info: info, lane: lane)
    }
}

extension IntentID {
    /// Reads the id among the members of an intent or a verdict.
    init(members: JSONMembers, of replica: ReplicaID?) throws {
        guard let replica = try members.replicaIfPresent("replica") ?? replica else {
            throw JSONFormError("an intent or its request must have the member \"replica\"")
        }
        self.init(replica: replica, number: try members.number("number"))
    }

    /// The members of an intent or a verdict; without the replica if that is `shared`.
    func members(besides shared: ReplicaID?) -> JSON.Object {
        var object: JSON.Object = ["number": .of(number)]
        if replica != shared { object["replica"] = .string(replica.name) }
        return object
    }
}

extension JSON {
    /// The members of an object of texts; nil for anything else.
    fileprivate var texts: [String: String]? {
        guard let object = objectValue else { return nil }
        var texts: [String: String] = [:]
        for (name, value) in object.members {
            guard let text = value.stringValue else { return nil }
            texts[name.string] = text
        }
        return texts
    }
}
