/// The bytes of an attempt in the table `attempts`, whose key is the intent's number.
extension Attempt {
    private static var version: UInt8 { 1 }

    private enum Flag {
        static let failure: UInt8 = 1
        static let next: UInt8 = 2
        static let all: UInt8 = 3
    }

    package func encoded(for number: IntentNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 48 + (failure?.reason.utf8.count ?? 0))
        writer.fixed(Self.version)
        writer.fixed((failure == nil ? 0 : Flag.failure) | (next == nil ? 0 : Flag.next))
        writer.variable(UInt64(count))
        writer.fixed(startedAt.millisecondsSince1970)
        if let next { writer.fixed(next.millisecondsSince1970) }
        if let failure {
            writer.fixed(failure.at.millisecondsSince1970)
            writer.sized(failure.reason)
        }
        _ = writer.seal(seed: number.value)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], for number: IntentNumber) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: number.value)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("attempt format \(version)") }
        let flags = try reader.fixed(UInt8.self)
        guard flags & ~Flag.all == 0 else { throw .newer("attempt flags \(flags)") }
        guard let count = Int(exactly: try reader.variable()), count >= 1 else {
            throw .damaged("its count of attempts is not from 1 up")
        }
        let started = try reader.timestamp()
        let next = flags & Flag.next == 0 ? nil : try reader.timestamp()
        var failure: Failure?
        if flags & Flag.failure != 0 {
            failure = Failure(at: try reader.timestamp(), reason: try reader.sizedString())
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        self.init(count: count, startedAt: started, failure: failure, next: next)
    }
}

extension ByteReader {
    fileprivate mutating func timestamp() throws(FormatError) -> Timestamp {
        Timestamp(millisecondsSince1970: try fixed())
    }
}
