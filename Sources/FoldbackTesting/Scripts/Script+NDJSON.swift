import Foldback
import FoldbackHistory

/// Scripts as files: one JSON object a line, in the form of the entries that `foldback log --json`
/// prints. A file holds events, not choices, so it stays valid when generators change.
///
/// ```
/// {"history":"Likes","confirmedBy":"downlink","codec":1,"version":1}
/// {"kind":"intent","intent":1,"event":{"liked":{"post":"a"}}}
/// {"kind":"rejected","intent":1,"message":"no"}
/// ```
/// Kinds besides those of entries are `attempt`, `reopened`, `killed` and `checkpoint`; an intent may
/// have `force`. An event that is not JSON is a list of bytes.
extension Script {
    /// - Parameters:
    ///   - codec: the projection's codec of events.
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
            place = place.advanced(by: step.placeCount)
            lines.append(try step.json(at: place, codec))
        }
        return lines.map { String(decoding: $0.printed, as: UTF8.self) + "\n" }.joined()
    }

    /// Reads a script from its file, or from the entries of a log.
    ///
    /// Intents of a log are recorded with force, because the log did record them. Their places are
    /// the places in the text, whatever their numbers are. An entry about an intent that is not in
    /// the text names no intent, and an origin that is not in the text is another device's intent.
    /// - Parameters:
    ///   - text: the text of ``ndjson(_:title:)``, or entries.
    ///   - codec: the projection's codec of events.
    ///   - confirmedBy: the log's kind; nil if the first line names it.
    /// - Throws: ``ScriptFileError`` with the line, also if the log's kind is unknown.
    public init(
        ndjson text: String, _ codec: any EventCodec<Event>, confirmedBy: LogKind? = nil
    ) throws {
        var kind = confirmedBy
        var format = codec.format
        var recorded = RecordedPlaces()
        var steps: [Step] = []
        for (index, line) in text.split(separator: "\n").enumerated() {
            do {
                let json = try JSON(parsing: String(line))
                if json["history"] != nil || json["kind"] == nil {
                    kind = kind ?? json["confirmedBy"]?.stringValue.flatMap(LogKind.init)
                    format = EventFormat(
                        codec: json["codec"].flatMap(UInt8.init) ?? format.codec,
                        version: json["version"].flatMap(UInt16.init) ?? format.version)
                    continue
                }
                steps.append(try Step(json, codec, format, recorded))
                try recorded.append(json, placeCount: steps.last?.placeCount ?? 0)
            } catch {
                throw ScriptFileError(line: index + 1, reason: "\(error)")
            }
        }
        guard let kind else {
            throw ScriptFileError(line: 1, reason: "confirmedBy is missing, the log's kind")
        }
        self.init(kind, steps)
    }
}

/// The intents that a file has recorded so far, with their replicas and places.
private struct RecordedPlaces {
    private var byNumber: [UInt64: (replica: ReplicaID, place: IntentNumber, event: JSON?)] = [:]
    private var count: UInt64 = 0

    /// Each intent names its replica, because a log may have had several, one after the other.
    /// The steps of a script that take places and have no number get the next ones.
    mutating func append(_ step: JSON, placeCount: Int) throws {
        if step["kind"] == "intent" {
            try append(step)
        } else {
            for _ in 0..<placeCount {
                count += 1
                byNumber[count] = (.own, IntentNumber(count), nil)
            }
        }
    }

    private mutating func append(_ intent: JSON) throws {
        count += 1
        let replica = intent["replica"]?.stringValue.flatMap { ReplicaID($0) } ?? .own
        let event =
            try intent["event"] ?? intent.optional("retries").flatMap { byNumber[$0]?.event }
        byNumber[try intent.number("intent")] = (replica, IntentNumber(count), event)
    }

    /// Returns whether a retry has the event of the intent that it retries. The entries of a log do
    /// not say it.
    func hasEvent(of retry: JSON) throws -> Bool {
        try retry["event"] == byNumber[retry.number("retries")]?.event
    }

    /// Nil if the file has not recorded it.
    subscript(number: UInt64) -> IntentNumber? { byNumber[number]?.place }

    func origin<Event>(_ id: IntentID) -> Script<Event>.Origin {
        guard let intent = byNumber[id.number.value], intent.replica == id.replica else {
            return .foreign(id)
        }
        return .own(intent.place)
    }
}

/// The error of a file that is not a script.
public struct ScriptFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1 up.
    public let line: Int
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
}

extension Script.Step {
    fileprivate func json(
        at place: IntentNumber, _ codec: any EventCodec<Event>
    ) throws -> JSON {
        var object = JSON.Object()
        func set(_ kind: String, _ place: IntentNumber?) {
            object["kind"] = .string(kind)
            object["intent"] = place.map { .of($0) }
        }
        switch self {
        case .record(let event, let force, let confirmOnly, let once, let key, let held):
            set("intent", place)
            object["event"] = try JSON(event, codec)
            if force { object["force"] = true }
            if confirmOnly { object["confirmOnly"] = true }
            object["once"] = once.map { .string($0) }
            object["replacing"] = key.map { .string($0) }
            if held { object["held"] = true }
        case .together(let events, let force, let once, let held):
            set("together", nil)
            object["events"] = .array(try events.map { try JSON($0, codec) })
            if force { object["force"] = true }
            object["once"] = once.map { .string($0) }
            if held { object["held"] = true }
        case .change(let named, let command, let force):
            if let kind = command.fileKind {
                set(kind, named)
            } else {
                set("intent", place)
                object["retries"] = .of(named)
            }
            if force { object["force"] = true }
        case .edit(let named, let event, let force):
            set("intent", place)
            object["retries"] = .of(named)
            object["event"] = try JSON(event, codec)
            if force { object["force"] = true }
        case .acknowledge(let place, let position, let replacement):
            set("acknowledged", place)
            object["position"] = position.map { .of($0) }
            object["event"] = try replacement.map { try JSON($0, codec) }
        case .reject(let place, let code, let message):
            set("rejected", place)
            object["message"] = .string(message)
            object["code"] = code.map { .string($0) }
        case .confirm(let events, let through):
            set("confirmed", nil)
            object["events"] = .array(try events.map { try $0.json(codec, placesSoFar: place) })
            object["through"] = through.map { .of($0) }
        case .attempt(let place): set("attempt", place)
        case .checkpoint: set("checkpoint", nil)
        case .reopen: set("reopened", nil)
        case .kill: set("killed", nil)
        }
        return .object(object)
    }

    fileprivate init(
        _ json: JSON, _ codec: any EventCodec<Event>, _ format: EventFormat,
        _ recorded: RecordedPlaces
    ) throws {
        let isEntry = json["sequence"] != nil
        // Place 0 names no intent.
        func place(_ name: ExactString = "intent") throws -> IntentNumber {
            let number = IntentNumber(try json.number(name))
            return recorded[number.value] ?? (!isEntry && number.isNeverRecorded ? number : 0)
        }
        let force = json["force"]?.boolValue ?? isEntry
        switch json["kind"]?.stringValue {
        case "intent"
        where try json["retries"] != nil && (json["event"] == nil || place("retries") > 0):
            let old = try place("retries")
            if try json["event"] == nil || isEntry && recorded.hasEvent(of: json) {
                self = .retry(old, force: force)
            } else {
                self = .edit(old, try json.event("event", codec, format), force: force)
            }
        case "intent":
            self = .record(
                try json.event("event", codec, format), force: force,
                confirmOnly: json["confirmOnly"]?.boolValue ?? false,
                once: json["once"]?.stringValue, replacing: json["replacing"]?.stringValue,
                held: json["held"]?.boolValue ?? false)
        case "together":
            self = .together(
                try (json["events"]?.arrayValue ?? []).map { try $0.event(codec, format) },
                force: force, once: json["once"]?.stringValue,
                held: json["held"]?.boolValue ?? false)
        // A log has such entries because of others, and a script has the others.
        case "lapsed", "restored": self = .change(0, .withdraw, force: false)
        case "undone": self = .change(try place(), .withdraw, force: false)
        case "acknowledged":
            self = .acknowledge(
                try place(), position: try json.optional("position").map(Position.init),
                replacement: json["event"] == nil ? nil : try json.event("event", codec, format))
        case "rejected":
            self = .reject(
                try place(), code: json["code"]?.stringValue,
                message: json["message"]?.stringValue ?? "")
        case "confirmed":
            let events = try (json["events"]?.arrayValue ?? []).map {
                try Script.ServerEvent($0, codec, format, recorded)
            }
            self = .confirm(events, through: try json.optional("through").map(Position.init))
        case "attempt": self = .attempt(try place())
        case "checkpoint": self = .checkpoint
        case "reopened": self = .reopen
        case "killed": self = .kill
        case let kind:
            guard let command = kind.flatMap({ IntentCommand(fileKind: $0) }) else {
                throw ScriptFieldError(what: "kind \(kind ?? "nothing") is unknown")
            }
            self = .change(try place(), command, force: json["force"]?.boolValue ?? false)
        }
    }
}

extension Script.ServerEvent {
    /// Leaves out an origin that is not recorded yet, because it names no intent.
    fileprivate func json(
        _ codec: any EventCodec<Event>, placesSoFar: IntentNumber
    ) throws -> JSON {
        var object: JSON.Object = [
            "position": .of(position), "event": try JSON(event, codec),
        ]
        let id: IntentID? =
            switch origin {
            case .own(let place):
                (place >= 1 && place <= placesSoFar) || place.isNeverRecorded
                    ? IntentID(replica: .own, number: place) : nil
            case .foreign(let id): id
            case .none: nil
            }
        object["origin"] = id.map {
            .of($0)
        }
        return .object(object)
    }

    fileprivate init(
        _ json: JSON, _ codec: any EventCodec<Event>, _ format: EventFormat,
        _ recorded: RecordedPlaces
    ) throws {
        var origin = Script.Origin.none
        if let named = json["origin"] {
            guard let replica = ReplicaID(named["replica"]?.stringValue ?? "") else {
                throw ScriptFieldError(what: "origin has no replica")
            }
            let number = IntentNumber(try named.number("intent"))
            origin = recorded.origin(IntentID(replica: replica, number: number))
        }
        self.init(
            Position(try json.number("position")), try json.event("event", codec, format), origin)
    }
}

private struct ScriptFieldError: Error, CustomStringConvertible {
    let what: String
    var description: String { what }
}

extension JSON {
    /// An event, as JSON if its codec writes JSON. An event that would be read back as another
    /// event (-0.0 as 0), or as a list of bytes, is written as a list of bytes.
    fileprivate init<Event>(_ event: Event, _ codec: any EventCodec<Event>) throws {
        let bytes = try codec.encode(event)
        if let json = try? JSON(parsing: bytes), json.rawBytes == nil, json.isRead(as: bytes, codec)
        {
            self = json
        } else {
            self = ["bytes": .array(bytes.map { .integer(Int64($0)) })]
        }
    }

    private func isRead<Event>(as bytes: [UInt8], _ codec: any EventCodec<Event>) -> Bool {
        let written = encoded
        if written == bytes { return true }
        // Some JSON encoders change the order of members. In other formats every byte counts.
        guard codec.format.codec == EventFormat.json.codec,
            let read = try? codec.decode(written.span.bytes, format: codec.format)
        else { return false }
        return (try? codec.encode(read)) == bytes
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
        guard let json = self[name] else { throw ScriptFieldError(what: "\(name) is missing") }
        return try json.event(codec, format)
    }

    fileprivate func event<Event>(
        _ codec: any EventCodec<Event>, _ format: EventFormat
    ) throws -> Event {
        let bytes = rawBytes ?? encoded
        return try codec.decode(bytes.span.bytes, format: format)
    }

    fileprivate func optional(_ name: ExactString) throws -> UInt64? {
        self[name] == nil ? nil : try number(name)
    }

    fileprivate func number(_ name: ExactString) throws -> UInt64 {
        guard let number = self[name].flatMap(UInt64.init) else {
            throw ScriptFieldError(what: "\(name) is not a number")
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
