import Foldback

extension LogEntry {
    /// The entry as the command line prints it with `--json`. Only files of histories have the
    /// inverse of an intent's event.
    ///
    /// An event that makes its own JSON, such as a decision of FoldbackServer, is that JSON if this
    /// code can read it. Then an event of a batch also has its `actor`, such as the account that caused
    /// it, and the `outcome`: accepted, reworded or rejected. Files have the bytes of such events.
    public var json: JSON {
        var object: JSON.Object = [
            "sequence": .of(sequence), "at": .integer(time.millisecondsSince1970),
        ]
        if !info.isEmpty {
            var items = JSON.Object()
            for (key, value) in info { items[ExactString(key)] = .string(value) }
            object["info"] = .object(items)
        }
        switch content {
        case .intent(let intent):
            object["kind"] = "intent"
            object["replica"] = .string(replica.name)
            object.add(intent)
        case .acknowledged(let number, let position, let replacement):
            object["kind"] = "acknowledged"
            object["intent"] = .of(number)
            object["position"] = position.map { .of($0) }
            object["event"] = replacement.map { JSON(shown: $0) }
            object.note(replacement?.format ?? .json, unless: .json)
        case .changed(let number, let change):
            object["kind"] = .string(change.kind.rawValue)
            object["intent"] = .of(number)
            object["code"] = change.rejection?.code.map { .string($0) }
            object["message"] = change.rejection.map { .string($0.message) }
        case .confirmed(let events, let through):
            object["kind"] = "confirmed"
            object["through"] = .of(through)
            object["events"] = .array(events.map { eventJSON($0) })
        }
        return .object(object)
    }
}

/// Returns an event of a batch with its position and origin.
private func eventJSON<Event>(_ event: BatchEvent<Event>) -> JSON {
    var object: JSON.Object = [
        "position": .of(event.position), "event": JSON(shown: event.event),
    ]
    if let attribution = (event.event.event as? any AttributedEvent)?.attribution {
        object["actor"] = .string(attribution.actor)
        object["outcome"] = .string(attribution.outcome.rawValue)
    }
    object["origin"] = event.origin.map { .of($0) }
    object.note(event.event.format, unless: .json)
    return .object(object)
}

extension JSON {
    /// The event as it describes itself, or its bytes.
    fileprivate init<Event>(shown event: LoggedEvent<Event>) {
        self = event.described ?? JSON(logged: event.bytes)
    }
}

extension JSON.Object {
    /// Writes an intent with its terms. A term that it does not have has no member.
    fileprivate mutating func add<Event>(_ intent: LoggedIntent<Event>) {
        self["intent"] = .of(intent.number)
        self["event"] = JSON(shown: intent.event)
        note(intent.event.format, unless: .json)
        if intent.isConfirmOnly { self["confirmOnly"] = true }
        self["once"] = intent.once.map { .string($0) }
        self["retries"] = intent.retries.map { .of($0) }
        if intent.isHeld { self["held"] = true }
        self["replacing"] = intent.replacingKey.map { .string($0) }
        self["replaces"] = intent.replaces.map { .of($0) }
        self["group"] = intent.group.map { .of($0) }
        self["undoes"] = intent.undoes.map { .of($0) }
    }

    /// Writes an event's format into the object that has the event, or removes it if it is `usual`.
    mutating func note(_ format: EventFormat, unless usual: EventFormat) {
        let isNoted = format != usual
        self["codec"] = isNoted ? .integer(Int64(format.codec)) : nil
        self["version"] = isNoted ? .integer(Int64(format.version)) : nil
    }
}

extension StoreStatus {
    /// The status as the command line prints it with `--json`. Counts that need a fold are missing.
    /// `lineage` is there if an authority has named one.
    public var json: JSON.Object {
        var json: JSON.Object = [
            "replica": .string(replica.name), "kind": .string(kind.rawValue),
            "entries": .integer(Int64(entryCount)), "sequence": .of(sequence), "base": .of(base),
            "through": .of(through),
            "pending": .integer(Int64(pendingCount)), "held": .integer(Int64(heldCount)),
            "accepted": .integer(Int64(acceptedCount)),
            "rejected": .integer(Int64(rejectedCount)), "nextIntent": .of(nextIntent),
            "bytes": .integer(Int64(bytesOnDisk)), "checkpoint": .of(checkpoint),
        ]
        if let lineage { json["lineage"] = .string(lineage.name) }
        return json
    }
}
