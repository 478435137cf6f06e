#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `{"replica":"4f1e…","intent":17}`
extension IntentID: JSONForm {
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "an intent's id")
        self.init(replica: try members.replica("replica"), number: try members.number("intent"))
    }

    public func json() -> JSON { .of(self) }
}

/// `{"lineage":"9b6d…","through":90,"digest":"5f0c…"}`, without a lineage or a digest if none is known.
extension SyncPoint: JSONForm {
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "a sync point")
        self.init(
            lineage: try members.lineageIfPresent("lineage"),
            through: try members.number("through"),
            digest: try members.digestIfPresent("digest"))
    }

    public func json() -> JSON { .object(added(to: [:])) }

    /// Returns the members of another value with those of the sync point.
    package func added(to object: JSON.Object) -> JSON.Object {
        var object = object
        object["through"] = .of(through)
        object["lineage"] = lineage.map { .string($0.name) }
        object["digest"] = digest.map { .string($0.text) }
        return object
    }
}

/// `{"code":"blocked","message":"…"}`, without a code if there is none.
extension Rejection: JSONForm {
    public init(json: JSON) throws {
        let members = try JSONMembers(json, of: "a rejection")
        self.init(
            code: try members.optional("code", "a text", \.stringValue),
            message: try members.text("message"))
    }

    public func json() -> JSON {
        var object: JSON.Object = ["message": .string(message)]
        object["code"] = code.map { .string($0) }
        return .object(object)
    }
}

/// `[1,2]`: the codec and its version.
extension EventFormat: JSONForm {
    public init(json: JSON) throws {
        guard let parts = json.arrayValue, parts.count == 2,
            let codec = parts[0].unsignedValue.flatMap({ UInt8(exactly: $0) }),
            let version = parts[1].unsignedValue.flatMap({ UInt16(exactly: $0) })
        else { throw JSONFormError("an event's format must be [codec, version], not \(json)") }
        self.init(codec: codec, version: version)
    }

    public func json() -> JSON { [.integer(Int64(codec)), .integer(Int64(version))] }
}

/// `{"format":[1,2],"event":{"liked":{"post":"42"}}}` for codec 1, otherwise
/// `{"format":[128,1],"bytes":"bGlrZWQ="}`.
///
/// Bytes of codec 1 are sent as base64 too if they are not JSON, or if they have a number that
/// ``JSON`` does not keep exactly: -0, or a number with more digits than a double. So are events that are
/// nested so deep that a message around them would be refused. JSON keeps its
/// values, but not its white space, the order of members, and the spelling of numbers.
extension RecordedEvent: JSONForm {
    public init(json: JSON) throws {
        try self.init(members: try JSONMembers(json, of: "an event"))
    }

    public func json() -> JSON { .object(added(to: [:])) }

    /// Reads the event among the members of another value.
    package init(members: JSONMembers) throws {
        guard let format = members["format"] else {
            throw JSONFormError("an event lacks the member \"format\"")
        }
        self.init(format: try EventFormat(json: format), bytes: try Self.bytes(members, format))
    }

    private static func bytes(_ members: JSONMembers, _ format: JSON) throws -> [UInt8] {
        if let bytes = try members.optional("bytes", "base64", \.base64Value) { return bytes }
        guard let event = members["event"] ?? members.null("event") else {
            throw JSONFormError("an event lacks its member \"event\" or \"bytes\"")
        }
        guard try EventFormat(json: format).codec == EventFormat.json.codec else {
            throw JSONFormError("an event of format \(format) must have \"bytes\"")
        }
        return event.encoded
    }

    /// Returns the members of another value with those of the event.
    package func added(to object: JSON.Object) -> JSON.Object {
        var object = object
        object["format"] = format.json()
        if format.codec == EventFormat.json.codec, let json = try? JSON(parsing: bytes),
            JSON.keepsNumbers(of: bytes), json.fitsIntoMessage(of: bytes.count)
        {
            object["event"] = json
        } else {
            object["bytes"] = .string(Data(bytes).base64EncodedString())
        }
        return object
    }
}

extension JSON {
    /// The levels of a message around an event: an answer, its verdicts, a verdict, an acceptance.
    private static let messageDepth = 4

    /// Whether a message with this value can be parsed.
    ///
    /// - Parameter byteCount: the bytes of the value as text. Each level has two.
    fileprivate func fitsIntoMessage(of byteCount: Int) -> Bool {
        if byteCount < 2 * (Self.depthMax - Self.messageDepth) { return true }
        let message = (0..<Self.messageDepth).reduce(self) { inner, _ in .array([inner]) }
        return message.flaw == nil
    }

    /// The bytes of a text in base64; nil for anything else.
    fileprivate var base64Value: [UInt8]? {
        stringValue.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }
}

extension DeliveredEvent {
    /// Returns the members of another value with those of the event.
    ///
    /// - Throws: ``JSONFormError`` if the event has no bytes.
    package func added(to object: JSON.Object) throws -> JSON.Object {
        switch self {
        case .recorded(let recorded): return recorded.added(to: object)
        case .event(let event):
            guard let recorded = event as? RecordedEvent else {
                throw JSONFormError(
                    "the event \(event) has no bytes, so its format is not known; call "
                        + "recorded(by:) with the projection's codec first")
            }
            return recorded.added(to: object)
        }
    }
}
