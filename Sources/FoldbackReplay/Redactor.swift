#if ReplayTool
    import ArgumentParser
    import Foldback

    /// What must not leave the machine, written over: texts as as many x, numbers as 0, truth as false.
    struct Redactor: ParsableArguments {
        @Option(help: "A place in events that is written over, as /value/title; again for more.")
        var redact: [String] = []

        @Option(help: "A document's key whose values are written over in all events.")
        var redactKey: [String] = []

        @Option(
            help:
                "A place in events that is kept; everything else is written over, and so are info and messages."
        )
        var keep: [String] = []

        var isNeeded: Bool { !(redact.isEmpty && redactKey.isEmpty && keep.isEmpty) }

        func validate() throws { for text in redact + keep { _ = try JSONPointer(argument: text) } }

        /// What makes an event of documents one.
        private static let structure: Set<ExactString> = [
            "op", "key", "require", "field", "events",
        ]

        /// - Parameter entry: as a history's file has it.
        /// - Throws: where an event is no JSON, so that nobody knows what is in it.
        func redacted(_ entry: JSON) throws -> JSON {
            guard isNeeded, case .object(var object) = entry else { return entry }
            object["event"] = try object["event"].map { try event($0, entry) }
            if let events = object["events"]?.arrayValue {
                object["events"] = .array(
                    try events.map { confirmed in
                        guard case .object(var inner) = confirmed else { return confirmed }
                        inner["event"] = try inner["event"].map { try event($0, entry) }
                        return .object(inner)
                    })
            }
            if !keep.isEmpty {
                object["info"] = object["info"]?.written(over: [])
                object["message"] = object["message"]?.written(over: [])
            }
            return .object(object)
        }

        private func event(_ event: JSON, _ entry: JSON) throws -> JSON {
            guard event["bytes"] == nil else {
                throw StreamFailure(
                    "the event of entry \(entry["sequence"] ?? 0) is no JSON, so nothing in it can be redacted"
                )
            }
            if let all = event["events"]?.arrayValue, event["op"] == "all" {
                return event.replacing(
                    ["events"], .array(try all.map { try self.event($0, entry) }))
            }
            var event = event
            if !keep.isEmpty {
                let kept = keep.compactMap { JSONPointer($0)?.names }
                event = event.written(over: kept + Self.structure.map { [$0] })
            }
            for text in redact {
                guard let place = JSONPointer(text), let old = event[at: place] else { continue }
                event = event.replacing(place.names[...], old.written(over: []))
            }
            if case .string(let key) = event["key"], redactKey.contains(key.string) {
                for name: ExactString in ["value", "by"] {
                    guard let old = event[name] else { continue }
                    event = event.replacing([name], old.written(over: []))
                }
            }
            return event
        }
    }

    extension JSON {
        /// Everything but what lies at the kept places.
        fileprivate func written(over kept: [[ExactString]]) -> JSON {
            if kept.contains([]) { return self }
            func below(_ name: ExactString) -> [[ExactString]] {
                kept.filter { $0.first == name }.map { Array($0.dropFirst()) }
            }
            switch self {
            case .null: return .null
            case .bool: return .bool(false)
            case .integer, .double, .digits: return .integer(0)
            case .string(let text): return .string(String(repeating: "x", count: text.string.count))
            case .array(let elements):
                return .array(
                    elements.enumerated().map { index, element in
                        element.written(over: below(ExactString(String(index))))
                    })
            case .object(let object):
                var result = Object()
                for (name, value) in object.members {
                    result[name] = value.written(over: below(name))
                }
                return .object(result)
            }
        }

        fileprivate func replacing(_ names: ArraySlice<ExactString>, _ value: JSON) -> JSON {
            guard let name = names.first else { return value }
            switch self {
            case .object(var object):
                object[name] = object[name]?.replacing(names.dropFirst(), value)
                return .object(object)
            case .array(var elements):
                guard let index = Int(name.string), elements.indices.contains(index) else {
                    return self
                }
                elements[index] = elements[index].replacing(names.dropFirst(), value)
                return .array(elements)
            case .null, .bool, .integer, .double, .digits, .string: return self
            }
        }
    }
#endif
