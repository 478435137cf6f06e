// Ids and numbers are single values for every coder, because they are sent to other programs.

extension LogNumber {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(UInt64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension ReplicaID: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.name(ReplicaID.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.encode(name) }
}

extension Lineage: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.name(Lineage.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.encode(name) }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let time = try decoder.singleValueContainer().decode(Int64.self)
        self.init(millisecondsSince1970: time)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSince1970)
    }
}

extension Decoder {
    fileprivate func name<Name>(_ make: (String) -> Name?) throws -> Name {
        let text = try singleValueContainer().decode(String.self)
        guard let name = make(text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "a name has 1 to 255 bytes, not \(text.utf8.count)"))
        }
        return name
    }
}

extension Encoder {
    fileprivate func encode(_ name: ExactString) throws {
        var container = singleValueContainer()
        try container.encode(name.string)
    }
}
