/// A projection with which the log was opened, in table `registered`. The key is a number.
package struct RegisteredProjection: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// The state is a value in memory.
        case value = 1
        /// The state is rows.
        case rows = 2
    }

    private static let format: UInt8 = 1

    package let number: UInt32
    package let identity: ProjectionIdentity
    package let kind: Kind
    package let firstOpened: Timestamp
    /// The last noted opening. The first transaction after a later opening notes it, once a day.
    package var lastOpened: Timestamp

    package init(
        number: UInt32, identity: ProjectionIdentity, kind: Kind, openedAt time: Timestamp
    ) {
        self.number = number
        self.identity = identity
        self.kind = kind
        firstOpened = time
        lastOpened = time
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writer.fixed(kind.rawValue)
        writer.fixed(identity.version)
        writer.fixed(firstOpened.millisecondsSince1970)
        writer.fixed(lastOpened.millisecondsSince1970)
        writer.sized(identity.name.string)
        _ = writer.seal(seed: UInt64(number))
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of number: UInt32) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: UInt64(number))
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("registered projection format \(format)") }
        let code = try reader.fixed(UInt8.self)
        guard let kind = Kind(rawValue: code) else { throw .newer("kind of projection \(code)") }
        self.number = number
        self.kind = kind
        let version = try reader.fixed(UInt32.self)
        firstOpened = Timestamp(millisecondsSince1970: try reader.fixed())
        lastOpened = Timestamp(millisecondsSince1970: try reader.fixed())
        identity = ProjectionIdentity(
            name: ExactString(try reader.sizedString()), version: version)
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
    }
}
