import Foldback

/// `{"events":[{"position":91,"format":[1,2],"event":{…},"origin":{…}}],"through":95,"more":false}`,
/// with `"lineage"`, `"head"` and `"digest"` if the authority has them.
///
/// Events are read as bytes, and only bytes can be written: see ``recorded(by:)``.
extension Changes: JSONForm {
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "a page of changes")
        self.init(
            events: try members.array("events").map { try ConfirmedEvent(json: $0) },
            through: try members.number("through"),
            hasMore: try members.required("more", "true or false", \.boolValue),
            lineage: try members.lineageIfPresent("lineage"),
            head: try members.numberIfPresent("head"),
            digest: try members.digestIfPresent("digest"))
    }

    public func json() throws -> JSON {
        var object: JSON.Object = [
            "events": .array(try events.map { try $0.json() }), "through": .of(through),
            "more": .bool(hasMore),
        ]
        object["lineage"] = lineage.map { .string($0.name) }
        object["head"] = head.map { .of($0) }
        object["digest"] = digest.map { .string($0.text) }
        return .object(object)
    }

    /// Returns this page with its events as bytes that `codec` writes, for a server in Swift.
    ///
    /// - Throws: errors of the codec.
    public func recorded(by codec: any EventCodec<Event>) throws -> Changes {
        Changes(
            events: try events.map { try $0.recorded(by: codec) }, through: through,
            hasMore: hasMore, lineage: lineage, head: head, digest: digest)
    }
}
