/// A value that is sent to other programs, and its JSON there.
///
/// The form is part of the protocol between devices and servers, so it does not change with the
/// value's Swift names. Unknown members are ignored, a missing member is an error, and an optional
/// member may be null.
///
/// Send the bytes of ``jsonBytes()`` and read them with ``init(jsonBytes:)``, because both keep
/// every number. `Codable` has the same members, but Foundation's coders do not keep every number:
/// `JSONEncoder` refuses whole numbers of more than 64 bits, and `JSONDecoder` rounds them and
/// takes 1.0 for 1.
public protocol JSONForm: Codable {
    /// Reads the value.
    ///
    /// - Throws: ``JSONFormError``.
    init(json: JSON) throws

    /// Returns the value as JSON.
    ///
    /// - Throws: ``JSONFormError`` if the value has no form, like an event without its bytes.
    func json() throws -> JSON
}

/// The reason why JSON is not a value's form, or a value has none.
public struct JSONFormError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    package init(_ description: String) { self.description = description }
}

extension JSONForm {
    /// Reads the value from JSON text. Whole numbers are exact, whatever their size.
    ///
    /// - Throws: ``JSONFormError``, ``JSONError``.
    public init(jsonBytes bytes: [UInt8]) throws { try self.init(json: try JSON(parsing: bytes)) }

    /// Returns the value as JSON text in UTF-8.
    ///
    /// - Throws: ``JSONFormError``.
    public func jsonBytes() throws -> [UInt8] { try json().encoded }

    public init(from decoder: any Decoder) throws {
        let json = try JSON(from: decoder)
        do { try self.init(json: json) } catch let error as JSONFormError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.description,
                    underlyingError: error))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let form: JSON
        do { form = try json() } catch let error as JSONFormError {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: error.description,
                    underlyingError: error))
        }
        try form.encode(to: encoder)
    }
}

/// The members of a JSON object, to be read by name.
package struct JSONMembers {
    private let object: JSON.Object
    /// The value's name in errors.
    private let owner: String

    package init(_ json: JSON, of owner: String) throws(JSONFormError) {
        guard let object = json.objectValue else {
            throw JSONFormError("\(owner) must be an object")
        }
        self.object = object
        self.owner = owner
    }

    /// The member; nil if it is missing or null.
    package subscript(name: ExactString) -> JSON? {
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    /// The member if it is null.
    package func null(_ name: ExactString) -> JSON? { object[name] == .null ? .null : nil }

    /// Returns what `read` makes of a member.
    package func required<T>(
        _ name: ExactString, _ what: String, _ read: (JSON) -> T?
    ) throws(JSONFormError) -> T {
        guard let value = try optional(name, what, read) else {
            throw JSONFormError("\(owner) lacks the member \"\(name)\"")
        }
        return value
    }

    /// Returns what `read` makes of a member; nil if the member is missing or null.
    package func optional<T>(
        _ name: ExactString, _ what: String, _ read: (JSON) -> T?
    ) throws(JSONFormError) -> T? {
        guard let json = self[name] else { return nil }
        guard let value = read(json) else {
            throw JSONFormError("the member \"\(name)\" of \(owner) must be \(what)")
        }
        return value
    }

    package func number<N: LogNumber>(_ name: ExactString) throws(JSONFormError) -> N {
        try required(name, "a whole number from 0 up") { $0.unsignedValue.map { N($0) } }
    }

    package func numberIfPresent<N: LogNumber>(_ name: ExactString) throws(JSONFormError) -> N? {
        try optional(name, "a whole number from 0 up") { $0.unsignedValue.map { N($0) } }
    }

    package func text(_ name: ExactString) throws(JSONFormError) -> String {
        try required(name, "a text", \.stringValue)
    }

    package func array(_ name: ExactString) throws(JSONFormError) -> [JSON] {
        try required(name, "an array", \.arrayValue)
    }

    package func replica(_ name: ExactString) throws(JSONFormError) -> ReplicaID {
        try required(name, "a text of 1 to 255 bytes") { $0.stringValue.flatMap { ReplicaID($0) } }
    }

    package func replicaIfPresent(_ name: ExactString) throws(JSONFormError) -> ReplicaID? {
        try optional(name, "a text of 1 to 255 bytes") { $0.stringValue.flatMap { ReplicaID($0) } }
    }

    package func lineageIfPresent(_ name: ExactString) throws(JSONFormError) -> Lineage? {
        try optional(name, "a text of 1 to 255 bytes") { $0.stringValue.flatMap { Lineage($0) } }
    }

    package func digestIfPresent(
        _ name: ExactString
    ) throws(JSONFormError) -> RunningDigest? {
        try optional(name, "a text of 1 to 255 bytes") {
            $0.stringValue.flatMap { RunningDigest($0) }
        }
    }
}
