import Foldback

/// Histories as files: one JSON object a line, in the form of the entries that `foldback log --json`
/// prints. They outlive changes of generators, for they have the events themselves.
///
/// ```
/// {"history":"Likes","confirmedBy":"downlink","codec":1,"version":1}
/// {"kind":"intent","intent":1,"event":{"liked":{"post":"a"}}}
/// {"kind":"rejected","intent":1,"message":"no"}
/// ```
/// Beside entries there are the kinds `reopened`, `killed` and `checkpoint`; an intent may have
/// `force`. Events that are no JSON are lists of their bytes.
extension History {
    /// - Parameters:
    ///   - codec: of the projection that the events are of.
    ///   - title: for people.
    public func ndjson(
        _ codec: any EventCodec<Event>, title: String
    ) throws -> String {
        let header: JSON = [
            "history": .string(title), "confirmedBy": .string(kind.rawValue),
            "codec": .integer(Int64(codec.format.codec)),
            "version": .integer(Int64(codec.format.version)),
        ]
        var place: IntentNumber = 0
        var lines = [header]
        for step in steps {
            if step.isRecording { place = IntentNumber(place.value + 1) }
            lines.append(try step.json(at: place, codec))
        }
        return lines.map { "\($0)\n" }.joined()
    }

    /// - Parameters:
    ///   - text: of ``ndjson(_:title:)``, or entries of a log without a first line; these are recorded with
    ///     force, for they were recorded.
    ///   - codec: of the projection that the events are of.
    /// - Throws: ``HistoryError`` with the line, or what the codec throws.
    public init(
        ndjson text: String, _ codec: any EventCodec<Event>
    ) throws {
        var kind = LogKind.downlink
        var format = codec.format
        var steps: [Step] = []
        for (index, line) in text.split(separator: "\n").enumerated() {
            do {
                let json = try JSON(parsing: String(line))
                if json["history"] != nil || json["kind"] == nil {
                    kind = json["confirmedBy"]?.stringValue.flatMap(LogKind.init) ?? kind
                    format = EventFormat(
                        codec: json["codec"].flatMap(UInt8.init) ?? format.codec,
                        version: json["version"].flatMap(UInt16.init) ?? format.version)
                    continue
                }
                steps.append(try Step(json, codec, format))
            } catch {
                throw HistoryError(line: index + 1, reason: "\(error)")
            }
        }
        self.init(kind, steps)
    }
}

/// A file that is no history.
public struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1 up.
    public let line: Int
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
}

extension History.Step {
    fileprivate func json(
        at place: IntentNumber, _ codec: any EventCodec<Event>
    ) throws -> JSON {
        var object = JSON.Object()
        func set(_ kind: String, _ place: IntentNumber?) {
            object["kind"] = .string(kind)
            object["intent"] = place.map { JSON(number: $0.value) }
        }
        switch self {
        case .record(let event, let force, let confirmOnly, let once):
            set("intent", place)
            object["event"] = try JSON(event, codec)
            if force { object["force"] = true }
            if confirmOnly { object["confirmOnly"] = true }
            object["once"] = once.map { .string($0) }
        case .retry(let old, let force):
            set("intent", place)
            object["retries"] = JSON(number: old.value)
            if force { object["force"] = true }
        case .withdraw(let place): set("withdrawn", place)
        case .dismiss(let place): set("dismissed", place)
        case .acknowledge(let place, let position, let replacement):
            set("acknowledged", place)
            object["position"] = position.map { JSON(number: $0.value) }
            object["event"] = try replacement.map { try JSON($0, codec) }
        case .reject(let place, let message):
            set("rejected", place)
            object["message"] = .string(message)
        case .confirm(let told, let through):
            set("confirmed", nil)
            object["events"] = .array(try told.map { try $0.json(codec) })
            object["through"] = through.map { JSON(number: $0.value) }
        case .checkpoint: set("checkpoint", nil)
        case .reopen: set("reopened", nil)
        case .kill: set("killed", nil)
        }
        return .object(object)
    }

    fileprivate init(
        _ json: JSON, _ codec: any EventCodec<Event>, _ format: EventFormat
    ) throws {
        func place(_ name: ExactString = "intent") throws -> IntentNumber {
            IntentNumber(try json.number(name))
        }
        let isEntry = json["sequence"] != nil
        let force = json["force"]?.boolValue ?? isEntry
        switch json["kind"]?.stringValue {
        case "intent" where json["retries"] != nil:
            self = .retry(try place("retries"), force: force)
        case "intent":
            self = .record(
                try json.event("event", codec, format), force: force,
                confirmOnly: json["confirmOnly"]?.boolValue ?? false,
                once: json["once"]?.stringValue)
        case "withdrawn": self = .withdraw(try place())
        case "dismissed": self = .dismiss(try place())
        case "acknowledged":
            self = .acknowledge(
                try place(), position: try json.optional("position").map(Position.init),
                replacement: json["event"] == nil ? nil : try json.event("event", codec, format))
        case "rejected": self = .reject(try place(), message: json["message"]?.stringValue ?? "")
        case "confirmed":
            let told = try (json["events"]?.arrayValue ?? []).map {
                try History.Told($0, codec, format)
            }
            self = .confirm(told, through: try json.optional("through").map(Position.init))
        case "checkpoint": self = .checkpoint
        case "reopened": self = .reopen
        case "killed": self = .kill
        case let kind: throw HistoryFieldError(what: "kind \(kind ?? "nothing") is unknown")
        }
    }
}

extension History.Told {
    fileprivate func json(
        _ codec: any EventCodec<Event>
    ) throws -> JSON {
        var object: JSON.Object = [
            "position": JSON(number: position.value), "event": try JSON(event, codec),
        ]
        let id: IntentID? =
            switch origin {
            case .own(let place): IntentID(replica: .own, number: place)
            case .foreign(let id): id
            case .none: nil
            }
        object["origin"] = id.map {
            ["replica": .string($0.replica.name), "intent": JSON(number: $0.number.value)]
        }
        return .object(object)
    }

    fileprivate init(
        _ json: JSON, _ codec: any EventCodec<Event>, _ format: EventFormat
    ) throws {
        var origin = History.Origin.none
        if let named = json["origin"] {
            guard let replica = ReplicaID(named["replica"]?.stringValue ?? "") else {
                throw HistoryFieldError(what: "origin has no replica")
            }
            let number = IntentNumber(try named.number("intent"))
            origin =
                replica == .own
                ? .own(number) : .foreign(IntentID(replica: replica, number: number))
        }
        self.init(
            Position(try json.number("position")), try json.event("event", codec, format), origin)
    }
}

private struct HistoryFieldError: Error, CustomStringConvertible {
    let what: String
    var description: String { what }
}

extension JSON {
    fileprivate init(number: UInt64) {
        self = Int64(exactly: number).map(JSON.integer) ?? .digits(String(number))
    }

    /// An event, readable where its codec writes JSON. What would be read as other bytes, or as a list
    /// of them, is a list of bytes.
    fileprivate init<Event>(_ event: Event, _ codec: any EventCodec<Event>) throws {
        let bytes = try codec.encode(event)
        let isJSON = codec.format.codec == EventFormat.json.codec
        if let json = try? JSON(parsing: bytes), isJSON || json.encoded == bytes,
            json.rawBytes == nil
        {
            self = json
        } else {
            self = ["bytes": .array(bytes.map { .integer(Int64($0)) })]
        }
    }

    private var rawBytes: [UInt8]? {
        guard objectValue?.members.count == 1, let elements = self["bytes"]?.arrayValue else {
            return nil
        }
        return elements.compactMap(UInt8.init)
    }

    fileprivate func event<Event>(
        _ name: ExactString, _ codec: any EventCodec<Event>, _ format: EventFormat
    ) throws -> Event {
        guard let json = self[name] else { throw HistoryFieldError(what: "\(name) is missing") }
        let bytes = json.rawBytes ?? json.encoded
        return try codec.decode(bytes.span.bytes, format: format)
    }

    fileprivate func optional(_ name: ExactString) throws -> UInt64? {
        self[name] == nil ? nil : try number(name)
    }

    fileprivate func number(_ name: ExactString) throws -> UInt64 {
        guard let number = self[name].flatMap(UInt64.init) else {
            throw HistoryFieldError(what: "\(name) is no number")
        }
        return number
    }
}

extension FixedWidthInteger {
    fileprivate init?(_ json: JSON) {
        switch json {
        case .integer(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        case .digits(let digits):
            guard let value = Self(digits) else { return nil }
            self = value
        case .null, .bool, .double, .string, .array, .object: return nil
        }
    }
}
