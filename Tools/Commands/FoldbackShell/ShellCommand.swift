import Foldback
import FoldbackReplay

/// The fields of one line, or of an object in it. Each method checks the type of its field.
///
/// The methods throw `bad_request` with the field's name if the field has another type. They also
/// throw it if the field is missing, unless it is optional.
struct ShellCommand {
    /// The most characters of a value that an error quotes.
    static let quotedMax = 120

    private let fields: JSON.Object
    /// The place of the object in the line, as errors name it: empty, or like `events[0].origin.`.
    private let place: String

    init(_ fields: JSON.Object, at place: String = "") {
        self.fields = fields
        self.place = place
    }

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

    /// Returns the number of another replica's or this replica's intent.
    private func recordedIntent(_ name: ExactString) throws(ShellError) -> IntentNumber {
        guard let field = fields[name] else { throw missing(name) }
        guard let value = field.unsignedValue, value >= 1 else {
            throw wrong(name, "a whole number from 1 up")
        }
        return IntentNumber(value)
    }

    func event(_ name: ExactString) throws(ShellError) -> DocumentEvent {
        guard let field = fields[name] else { throw missing(name) }
        do { return try DocumentEvent(json: field) } catch {
            throw ShellError(.badRequest, "\"\(place)\(name)\": \(error)")
        }
    }

    func events(_ name: ExactString) throws(ShellError) -> [DocumentEvent] {
        var events: [DocumentEvent] = []
        for (index, element) in try array(name).enumerated() {
            do { events.append(try DocumentEvent(json: element)) } catch {
                throw ShellError(.badRequest, "\"\(place)\(name)[\(index)]\": \(error)")
            }
        }
        return events
    }

    private func array(_ name: ExactString) throws(ShellError) -> [JSON] {
        guard let field = fields[name] else { throw missing(name) }
        guard let elements = field.arrayValue else { throw wrong(name, "an array") }
        return elements
    }

    func confirmedEvents(
        _ name: ExactString
    ) throws(ShellError) -> [ConfirmedEvent<DocumentEvent>] {
        let elements = try array(name)
        var events: [ConfirmedEvent<DocumentEvent>] = []
        for (index, element) in elements.enumerated() {
            let place = "\(self.place)\(name)[\(index)]"
            guard let object = element.objectValue else {
                throw wrong(place, "an object", element)
            }
            let fields = ShellCommand(object, at: place + ".")
            guard let position = try fields.optionalPosition("position") else {
                throw fields.missing("position")
            }
            events.append(
                ConfirmedEvent(
                    position: position, event: try fields.event("event"),
                    origin: try fields.origin()))
        }
        return events
    }

    private func origin() throws(ShellError) -> IntentID? {
        guard let field = fields["origin"] else { return nil }
        guard let object = field.objectValue else { throw wrong("origin", "an object") }
        let origin = ShellCommand(object, at: "\(place)origin.")
        guard let replica = ReplicaID(try origin.string("replica")) else {
            throw origin.wrong("replica", "a name of 1 to 255 bytes")
        }
        return IntentID(replica: replica, number: try origin.recordedIntent("intent"))
    }

    private func missing(_ name: ExactString) -> ShellError {
        ShellError(.badRequest, "\"\(place)\(name)\" is missing")
    }

    private func wrong(_ name: ExactString, _ wanted: String) -> ShellError {
        wrong("\(place)\(name)", wanted, fields[name] ?? .null)
    }

    private func wrong(_ place: String, _ wanted: String, _ found: JSON) -> ShellError {
        let found = "\(found)".shortened(to: Self.quotedMax)
        return ShellError(.badRequest, "\"\(place)\" must be \(wanted), not \(found)")
    }
}
