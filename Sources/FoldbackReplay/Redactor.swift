#if ReplayTool
    import Foldback
    import FoldbackHistory

    /// Redacts a whole history by rules about what may leave the machine.
    ///
    /// Redaction replaces a text by its pseudonym, a number by 1, 0 or -1 according to its sign,
    /// and a Boolean by false. Null stays. If two rules match nested places, the inner rule
    /// decides.
    ///
    /// | | `--redact`, `--redact-key` | `--keep` |
    /// |---|---|---|
    /// | events, and the inverses of events | the named places are redacted | all other places are redacted |
    /// | rejection messages, values of info, once and replacing keys | redacted | redacted |
    /// | replicas, rejection codes, names of info | stay | redacted |
    /// | document keys, `field` | stay | redacted, as any text of an event |
    /// | names of members in documents | stay | redacted, except those in a `--keep` |
    ///
    /// In an event of documents, `op`, `require` and the shape stay unless a rule names them. An
    /// app's event always keeps the names of its members, because it could not be read without
    /// them.
    struct Redactor {
        enum Rule: Hashable, CustomStringConvertible {
            /// A place in events.
            case redact(JSONPointer)
            /// A document's key.
            case redactKey(ExactString)
            /// A place in events.
            case keep(JSONPointer)

            var description: String {
                switch self {
                case .redact(let place): "--redact \(place)"
                case .redactKey(let key): "--redact-key \(key)"
                case .keep(let place): "--keep \(place)"
                }
            }
        }

        let rules: [Rule]
        /// Whether the log's events are ``/Foldback/DocumentEvent``s.
        let isOverDocuments: Bool

        /// - Throws: if an event is not JSON, because its contents are then unknown.
        func redacted(_ history: RecordedHistory<[UInt8]>) throws -> Redacted {
            let entries = history.entries
            var pass = RedactionPass(
                rules: Set(rules), isOverDocuments: isOverDocuments, replicas: entries.replicas)
            let redacted = try entries.map { try pass.entry($0) }
            let history = try RecordedHistory(
                kind: history.kind, replica: pass.pseudonyms.pseudonym(of: history.replica),
                entries: redacted, shared: history.shared)
            return Redacted(
                history: history, counts: rules.map { ($0, pass.counts[$0, default: 0]) })
        }
    }

    struct Redacted {
        let history: RecordedHistory<[UInt8]>
        /// The number of places in all events that each rule matched.
        let counts: [(rule: Redactor.Rule, count: Int)]
    }

    extension [LogEntry<[UInt8]>] {
        fileprivate var replicas: Set<ReplicaID> {
            Set(map(\.replica)).union(flatMap(\.origins).map(\.replica))
        }
    }

    /// One pass over a history, oldest entry first. This order determines the numbers of
    /// pseudonyms.
    private struct RedactionPass {
        let rules: Set<Redactor.Rule>
        let isOverDocuments: Bool
        /// Whether places that no rule names are redacted.
        let isKeeping: Bool
        /// The names in `--keep` rules. Members with these names keep them everywhere.
        let keptNames: Set<ExactString>
        var pseudonyms: Pseudonyms
        var counts: [Redactor.Rule: Int] = [:]

        init(rules: Set<Redactor.Rule>, isOverDocuments: Bool, replicas: Set<ReplicaID>) {
            let kept = rules.compactMap { rule in
                if case .keep(let place) = rule { place } else { nil }
            }
            self.rules = rules
            self.isOverDocuments = isOverDocuments
            isKeeping = !kept.isEmpty
            keptNames = Set(kept.flatMap(\.names))
            pseudonyms = Pseudonyms(replicas, areReplicasOver: isKeeping)
        }

        mutating func entry(_ entry: LogEntry<[UInt8]>) throws -> LogEntry<[UInt8]> {
            let replica = pseudonyms.pseudonym(of: entry.replica)
            var info: [String: String] = [:]
            for (name, value) in entry.info.sorted(by: { $0.key < $1.key }) {
                info[naming(name)] = pseudonyms.pseudonym(of: value)
            }
            return LogEntry(
                sequence: entry.sequence, time: entry.time,
                replica: replica, info: info,
                content: try content(of: entry))
        }

        /// Returns the name, or its pseudonym if `--keep` redacts names.
        private mutating func naming(_ name: String) -> String {
            isKeeping ? pseudonyms.pseudonym(of: name) : name
        }

        private mutating func content(
            of entry: LogEntry<[UInt8]>
        ) throws -> LogEntry<[UInt8]>.Content {
            switch entry.content {
            case .intent(let own): .intent(try intent(own, entry.sequence))
            case .acknowledged(let number, let position, let replacement):
                .acknowledged(
                    number, position: position,
                    replacement: try replacement.map { try event($0, entry.sequence) })
            case .changed(let number, .rejected(let rejection)):
                .changed(
                    number,
                    .rejected(
                        Rejection(
                            code: rejection.code.map { naming($0) },
                            message: pseudonyms.pseudonym(of: rejection.message))))
            case .changed: entry.content
            case .confirmed(let events, let through):
                .confirmed(
                    try events.map { confirmed in
                        BatchEvent(
                            position: confirmed.position,
                            event: try event(confirmed.event, entry.sequence),
                            origin: confirmed.origin.map {
                                IntentID(
                                    replica: pseudonyms.pseudonym(of: $0.replica), number: $0.number
                                )
                            })
                    }, through: through)
            }
        }

        private mutating func intent(
            _ own: LoggedIntent<[UInt8]>, _ sequence: LogSequence
        ) throws -> LoggedIntent<[UInt8]> {
            var intent = own
            intent.event = try event(own.event, sequence)
            intent.once = own.once.map { pseudonyms.pseudonym(of: $0) }
            intent.replacingKey = own.replacingKey.map { pseudonyms.pseudonym(of: $0) }
            if let inverse = own.inverse {
                let redacted = try event(
                    LoggedEvent(bytes: inverse.bytes, format: inverse.format), sequence)
                intent.inverse = RecordedEvent(format: redacted.format, bytes: redacted.bytes)
            }
            return intent
        }

        // MARK: Events

        /// Returns the redacted event. The format in the log decides how to read the bytes, not
        /// their look.
        private mutating func event(
            _ event: LoggedEvent<[UInt8]>, _ sequence: LogSequence
        ) throws -> LoggedEvent<[UInt8]> {
            guard event.format.codec == EventFormat.json.codec,
                let json = try? JSON(parsing: event.bytes)
            else {
                throw StreamFailure(
                    "the event of entry \(sequence) (\(event.format)) is not JSON and cannot be redacted; "
                        + "export without redaction, or remove the entry")
            }
            let isDocuments = isOverDocuments && (try? DocumentEvent(json: json)) != nil
            let new =
                isDocuments
                ? documents(json)
                : written(json, at: JSONPointer([]), isOver: isKeeping, areNamesOver: false)
            // An event without a redacted place keeps its bytes, and so the order of its members.
            return new == json ? event : LoggedEvent(bytes: new.encoded, format: event.format)
        }

        /// Redacts one event of documents. Events inside `all` are redacted in the same way.
        private mutating func documents(_ event: JSON) -> JSON {
            guard case .object(var object) = event else { return event }
            var isOver = isKeeping
            if case .string(let key) = event["key"], rules.contains(.redactKey(key)) {
                counts[.redactKey(key), default: 0] += 1
                isOver = true
            }
            for (name, value) in object.members {
                let place = JSONPointer([name])
                switch name {
                case "events": object[name] = .array((value.arrayValue ?? []).map { documents($0) })
                case "value", "by":
                    object[name] = written(
                        value, at: place, isOver: isOver, areNamesOver: isKeeping)
                case "key":
                    object[name] = written(
                        value, at: place, isOver: isKeeping, areNamesOver: false)
                case "field":
                    let isKept =
                        value.stringValue.map { keptNames.contains(ExactString($0)) } ?? false
                    object[name] = written(
                        value, at: place, isOver: isKeeping && !isKept, areNamesOver: false)
                default:
                    object[name] = written(value, at: place, isOver: false, areNamesOver: false)
                }
            }
            return .object(object)
        }

        private mutating func written(
            _ value: JSON, at place: JSONPointer, isOver: Bool, areNamesOver: Bool
        ) -> JSON {
            let isOver = follow(.redact(place)) || (!follow(.keep(place)) && isOver)
            switch value {
            case .null: return value
            case .bool: return isOver ? false : value
            case .integer(let number): return isOver ? .integer(number.signum()) : value
            case .double(let number):
                return isOver ? .double(number == 0 ? 0 : number < 0 ? -1 : 1) : value
            case .digits(let digits): return isOver ? (digits.hasPrefix("-") ? -1 : 1) : value
            case .string(let text):
                return isOver ? .string(pseudonyms.pseudonym(of: text.string)) : value
            case .array(let elements):
                return .array(
                    elements.enumerated().map { index, element in
                        let place = place.appending(ExactString(String(index)))
                        return written(
                            element, at: place, isOver: isOver, areNamesOver: areNamesOver)
                    })
            case .object(let object):
                let members = object.members.map { name, value in
                    let isNameOver = isOver && areNamesOver && !keptNames.contains(name)
                    let new = isNameOver ? ExactString(pseudonyms.pseudonym(of: name.string)) : name
                    let written = written(
                        value, at: place.appending(name), isOver: isOver, areNamesOver: areNamesOver
                    )
                    return (name: new, value: written)
                }
                return .object(JSON.Object(lastOf: members))
            }
        }

        /// Counts a match of the rule.
        ///
        /// - Returns: whether there is such a rule.
        private mutating func follow(_ rule: Redactor.Rule) -> Bool {
            guard rules.contains(rule) else { return false }
            counts[rule, default: 0] += 1
            return true
        }
    }
#endif
