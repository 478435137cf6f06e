import Foldback

extension Script {
    /// The history as Swift, to paste into a test; nil where an event is no enum case of plain values.
    func source(_ projection: String) -> String? {
        var lines: [String] = []
        for step in steps {
            guard let text = step.source else { return nil }
            lines.append("    \(text),")
        }
        return
            "Script<\(projection).Event>(.\(kind.rawValue), [\n\(lines.joined(separator: "\n"))\n])"
    }
}

extension Script.Step {
    fileprivate var source: String? {
        func call(_ name: String, _ arguments: [String?]) -> String {
            ".\(name)(\(arguments.compactMap { $0 }.joined(separator: ", ")))"
        }
        switch self {
        case .record(let event, let force, let confirmOnly, let once):
            guard let event = SwiftLiteral.of(event) else { return nil }
            return call(
                "record",
                [
                    event, force ? "force: true" : nil, confirmOnly ? "confirmOnly: true" : nil,
                    once.map { "once: \(SwiftLiteral.quoted($0))" },
                ])
        case .change(let place, let command, let force):
            return call(command.rawValue, ["\(place)", force ? "force: true" : nil])
        case .acknowledge(let place, let position, let replacement):
            var words: String?
            if let replacement {
                guard let literal = SwiftLiteral.of(replacement) else { return nil }
                words = "replacement: \(literal)"
            }
            return call("acknowledge", ["\(place)", position.map { "position: \($0)" }, words])
        case .reject(let place, let code, let message):
            return call(
                "reject",
                [
                    "\(place)", code.map { "code: \(SwiftLiteral.quoted($0))" },
                    "message: \(SwiftLiteral.quoted(message))",
                ])
        case .confirm(let events, let through):
            let events = events.map(\.source)
            guard !events.contains(nil) else { return nil }
            let list = events.compactMap { $0 }.joined(separator: ", ")
            return call("confirm", ["[\(list)]", through.map { "through: \($0)" }])
        case .checkpoint: return ".checkpoint"
        case .reopen: return ".reopen"
        case .kill: return ".kill"
        }
    }
}

extension Script.ServerEvent {
    fileprivate var source: String? {
        guard let event = SwiftLiteral.of(event) else { return nil }
        let origin: String
        switch self.origin {
        case .own(let place): origin = ".own(\(place))"
        case .foreign(let id):
            let replica = "ReplicaID(\(SwiftLiteral.quoted(id.replica.description)))!"
            origin = ".foreign(IntentID(replica: \(replica), number: \(id.number)))"
        case .none: origin = ".none"
        }
        return ".init(\(position), \(event), \(origin))"
    }
}

/// Values as Swift source, where a mirror tells enough.
enum SwiftLiteral {
    /// Nil for structs and classes: how they are made cannot be seen.
    static func of(_ value: Any) -> String? {
        switch value {
        case let string as String: return quoted(string)
        case let number as any BinaryInteger: return "\(number)"
        case let number as Double: return number.isFinite ? "\(number)" : nil
        case let bool as Bool: return "\(bool)"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        func each(_ children: Mirror.Children) -> [String]? {
            let literals = children.map { child in
                of(child.value).map { literal in
                    let label = child.label.flatMap { $0.first == "." ? nil : $0 }
                    return label.map { "\($0): \(literal)" } ?? literal
                }
            }
            return literals.contains(nil) ? nil : literals.compactMap { $0 }
        }
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { of($0.value) } ?? "nil"
        case .collection, .set:
            let elements = mirror.children.map { of($0.value) }
            guard !elements.contains(nil) else { return nil }
            return "[\(elements.compactMap { $0 }.joined(separator: ", "))]"
        case .enum:
            guard let child = mirror.children.first else {
                // What it says of itself may be another thing than its case's name.
                return value is any CustomStringConvertible ? nil : ".\(value)"
            }
            guard let name = child.label else { return nil }
            let payload = Mirror(reflecting: child.value)
            if payload.displayStyle == .tuple {
                return each(payload.children).map { ".\(name)(\($0.joined(separator: ", ")))" }
            }
            return of(child.value).map { ".\(name)(\($0))" }
        default: return nil
        }
    }

    static func quoted(_ string: String) -> String {
        var text = ""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case " "..."~": text.unicodeScalars.append(scalar)
            default: text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return "\"\(text)\""
    }
}
