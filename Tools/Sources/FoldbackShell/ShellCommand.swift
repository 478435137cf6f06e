import Foldback

/// The fields of one line, or of an object in it. Each method checks the type of its field.
///
/// The methods throw `bad_request` with the field's name if the field has another type. They also
/// throw it if the field is missing, unless it is optional.
struct ShellCommand {
    private let fields: JSON.Object

    init(_ fields: JSON.Object) { self.fields = fields }

    func has(_ name: ExactString) -> Bool { fields[name] != nil }

    func string(_ name: ExactString) throws(ShellError) -> String {
        guard let value = try optionalString(name) else { throw missing(name) }
        return value
    }

    func optionalString(_ name: ExactString) throws(ShellError) -> String? {
        guard let field = fields[name] else { return nil }
        guard let value = field.stringValue else { throw wrong(name, "a string") }
        return value
    }

    func flag(_ name: ExactString) throws(ShellError) -> Bool {
        guard let field = fields[name] else { return false }
        guard let value = field.boolValue else { throw wrong(name, "true or false") }
        return value
    }

    func number<N: LogNumber>(_ name: ExactString) throws(ShellError) -> N {
        guard let value: N = try optionalNumber(name) else { throw missing(name) }
        return value
    }

    func optionalNumber<N: LogNumber>(_ name: ExactString) throws(ShellError) -> N? {
        guard let field = fields[name] else { return nil }
        guard let value = field.unsignedValue else { throw wrong(name, "a whole number from 0 up") }
        return N(value)
    }

    /// Returns the field `intent`; 0 for a negative number.
    func intent() throws(ShellError) -> IntentNumber {
        guard let field = fields["intent"] else { throw missing("intent") }
        if let value = field.unsignedValue { return IntentNumber(value) }
        guard field.integerValue != nil else { throw wrong("intent", "a whole number") }
        // Intents are numbered from 1. The store answers that intent 0 is unknown.
        return 0
    }

    func optionalPosition(_ name: ExactString) throws(ShellError) -> Position? {
        guard let field = fields[name] else { return nil }
        guard let value = field.unsignedValue, value >= 1 else {
            throw wrong(name, "a whole number from 1 up")
        }
        return Position(value)
    }

    func optionalThrough(_ name: ExactString) throws(ShellError) -> Position? {
        try optionalNumber(name)
    }

    func event(_ name: ExactString) throws(ShellError) -> DocumentEvent {
        guard let field = fields[name] else { throw missing(name) }
        do { return try DocumentEvent(json: field) } catch {
            throw ShellError(.badRequest, "\"\(name)\": \(error)")
        }
    }

    func confirmedEvents(
        _ name: ExactString
    ) throws(ShellError) -> [ConfirmedEvent<DocumentEvent>] {
        guard let field = fields[name] else { throw missing(name) }
        guard let elements = field.arrayValue else { throw wrong(name, "an array") }
        var events: [ConfirmedEvent<DocumentEvent>] = []
        for element in elements {
            guard let object = element.objectValue else { throw wrong(name, "an array of objects") }
            let one = ShellCommand(object)
            guard let position = try one.optionalPosition("position") else {
                throw missing("position")
            }
            events.append(
                ConfirmedEvent(
                    position: position, event: try one.event("event"), origin: try one.origin()))
        }
        return events
    }

    private func origin() throws(ShellError) -> IntentID? {
        guard let field = fields["origin"] else { return nil }
        guard let object = field.objectValue else { throw wrong("origin", "an object") }
        let origin = ShellCommand(object)
        guard let replica = ReplicaID(try origin.string("replica")) else {
            throw wrong("replica", "a name of 1 to 255 bytes")
        }
        let number: IntentNumber = try origin.number("intent")
        guard number >= 1 else { throw wrong("origin", "an object whose intent is from 1 up") }
        return IntentID(replica: replica, number: number)
    }

    private func missing(_ name: ExactString) -> ShellError {
        ShellError(.badRequest, "\"\(name)\" is missing")
    }

    private func wrong(_ name: ExactString, _ wanted: String) -> ShellError {
        ShellError(.badRequest, "\"\(name)\" must be \(wanted), not \(fields[name] ?? .null)")
    }
}
