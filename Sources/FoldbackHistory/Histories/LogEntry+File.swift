import Foldback

extension LogEntry where Event == [UInt8] {
    /// Creates the entry from a line of a history file. Unknown members are ignored.
    ///
    /// - Parameters:
    ///   - format: the format of events that do not state one.
    ///   - own: the replica of an entry that does not name one.
    /// - Throws: ``HistoryFileError/Flaw`` if a member is missing or has a wrong value.
    init(fileJSON json: JSON, _ format: EventFormat, _ own: ReplicaID) throws {
        let line = FileLine(json: json, format: format)
        let content: Content
        switch try line.text("kind") {
        case "intent":
            content = .intent(try line.intent())
        case "acknowledged":
            content = .acknowledged(
                try line.number("intent"), position: try line.numberIfAny("position"),
                replacement: json["event"] == nil ? nil : try line.event())
        case "confirmed":
            content = .confirmed(try line.events(), through: try line.number("through"))
        case let kind:
            guard let kind = kind.flatMap(IntentChange.Kind.init) else {
                throw HistoryFileError.Flaw("\"kind\" is not a kind of entry")
            }
            content = .changed(try line.number("intent"), try line.change(kind))
        }
        let sequence: LogSequence = try line.number("sequence")
        // Every sequence needs a successor, and counts of entries are `Int`.
        guard sequence.value < UInt64(Int64.max) else {
            throw HistoryFileError.Flaw("sequence \(sequence) is too large for a log")
        }
        guard let time = json["at"]?.integerValue else {
            throw HistoryFileError.Flaw("\"at\" is not a time in milliseconds")
        }
        self.init(
            sequence: sequence, time: Timestamp(millisecondsSince1970: time),
            replica: try line.replica() ?? own, info: try line.info(), content: content)
    }
}

/// Reads the members of one line.
private struct FileLine {
    let json: JSON
    let format: EventFormat

    func number<Number: LogNumber>(_ name: ExactString) throws -> Number {
        guard let number = json[name]?.unsignedValue.map({ Number($0) }) else {
            throw flaw(name, "is not a whole number from 0 up")
        }
        return number
    }

    func numberIfAny<Number: LogNumber>(_ name: ExactString) throws -> Number? {
        json[name] == nil ? nil : try number(name)
    }

    func text(_ name: ExactString) throws -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.stringValue else { throw flaw(name, "is not a string") }
        return text
    }

    func bool(_ name: ExactString) throws -> Bool? {
        switch json[name] {
        case nil: return nil
        case .bool(let value): return value
        default: throw flaw(name, "is neither true nor false")
        }
    }

    func replica() throws -> ReplicaID? {
        guard let name = try text("replica") else { return nil }
        guard let replica = ReplicaID(name) else { throw flaw("replica", "is not a replica name") }
        return replica
    }

    func info() throws -> [String: String] {
        guard let value = json["info"] else { return [:] }
        guard let object = value.objectValue else { throw flaw("info", "is not an object") }
        var info: [String: String] = [:]
        for (name, value) in object.members {
            guard let text = value.stringValue else {
                throw flaw("info", "has a value that is not a string")
            }
            info[name.string] = text
        }
        return info
    }

    func change(_ kind: IntentChange.Kind) throws -> IntentChange {
        switch kind {
        case .rejected:
            .rejected(Rejection(code: try text("code"), message: try text("message") ?? ""))
        case .withdrawn: .withdrawn
        case .abandoned: .abandoned
        case .dismissed: .dismissed
        case .released: .released
        case .undone: .undone
        case .lapsed: .lapsed
        case .restored: .restored
        }
    }

    func intent() throws -> LoggedIntent<[UInt8]> {
        var intent = LoggedIntent(
            try number("intent"), try event(), isConfirmOnly: try bool("confirmOnly") ?? false,
            once: try text("once"), retries: try numberIfAny("retries"))
        intent.isHeld = try bool("held") ?? false
        intent.replacingKey = try text("replacing")
        intent.replaces = try numberIfAny("replaces")
        intent.group = try numberIfAny("group")
        intent.undoes = try numberIfAny("undoes")
        intent.inverse = try inverse()
        return intent
    }

    private func inverse() throws -> RecordedEvent? {
        guard let inverse = json["inverse"] else { return nil }
        do { return try RecordedEvent(json: inverse) } catch {
            throw flaw("inverse", "cannot be read: \(error)")
        }
    }

    func event() throws -> LoggedEvent<[UInt8]> {
        guard let event = json["event"] else { throw flaw("event", "is missing") }
        return LoggedEvent(
            bytes: try event.exactBytes(), format: try EventFormat(json) ?? format)
    }

    func events() throws -> [BatchEvent<[UInt8]>] {
        guard let list = json["events"]?.arrayValue else { throw flaw("events", "is not an array") }
        return try list.map { try FileLine(json: $0, format: format).confirmed() }
    }

    private func confirmed() throws -> BatchEvent<[UInt8]> {
        BatchEvent(
            position: try number("position"), event: try event(),
            origin: try json["origin"].map { origin in
                let origin = FileLine(json: origin, format: format)
                guard let replica = try origin.replica() else {
                    throw flaw("origin", "has no replica")
                }
                return IntentID(replica: replica, number: try origin.number("intent"))
            })
    }

    private func flaw(_ name: ExactString, _ what: String) -> HistoryFileError.Flaw {
        HistoryFileError.Flaw("\"\(name)\" \(what)")
    }
}

extension Record {
    /// - Throws: `.tooLarge` if a store would have refused the record because of its size.
    func requireLimits() throws(CommandError) {
        try Limit.info.require(Self.encoded(info: info).count)
        for payload in entry.payloads { try Limit.event.require(payload.bytes.count) }
        switch entry {
        case .intent(let intent):
            let terms = intent.terms
            try Limit.once.require(intent.once?.string.utf8.count ?? 0)
            try Limit.replacingKey.require(terms.replacingKey?.string.utf8.count ?? 0)
            try Limit.event.require(terms.inverse?.bytes.count ?? 0)
        case .changed(_, let change):
            guard let rejection = change.rejection else { break }
            try Limit.code.require(rejection.code?.utf8.count ?? 0)
            try Limit.message.require(rejection.message.utf8.count)
        case .confirmed(let batch): try Limit.batch.require(batch.events.limitedBytes)
        case .acknowledged: break
        }
    }
}
