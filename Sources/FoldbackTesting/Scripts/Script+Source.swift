import Foldback

extension Script {
    /// The script as Swift source for a test; nil if an event is not an enum case with plain
    /// values.
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
        case .record(let event, let force, let confirmOnly, let once, let key, let held):
            guard let event = SwiftLiteral.of(event) else { return nil }
            return call(
                "record",
                [
                    event, force ? "force: true" : nil, confirmOnly ? "confirmOnly: true" : nil,
                    once.map { "once: \(SwiftLiteral.quoted($0))" },
                    key.map { "replacing: \(SwiftLiteral.quoted($0))" },
                    held ? "held: true" : nil,
                ])
        case .together(let events, let force, let once, let held):
            let literals = events.map { SwiftLiteral.of($0) }
            guard !literals.contains(nil) else { return nil }
            let list = literals.compactMap { $0 }.joined(separator: ", ")
            return call(
                "together",
                [
                    "[\(list)]", force ? "force: true" : nil,
                    once.map { "once: \(SwiftLiteral.quoted($0))" }, held ? "held: true" : nil,
                ])
        case .change(let place, let command, let force):
            return call(command.rawValue, ["\(place)", force ? "force: true" : nil])
        case .edit(let place, let event, let force):
            guard let event = SwiftLiteral.of(event) else { return nil }
            return call("retry", ["\(place)", "with: \(event)", force ? "force: true" : nil])
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
        case .attempt(let place): return call("attempt", ["\(place)"])
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
