extension ByteWriter {
    mutating func write(_ fault: Fault) {
        variable(fault.sequence)
        switch fault.origin {
        case .position(let position):
            fixed(UInt8(0))
            variable(position)
        case .intent(let intent):
            fixed(UInt8(1))
            sized(intent.replica.name.string)
            variable(intent.number)
        }
        sized(fault.reason)
    }
}

extension ByteReader {
    mutating func fault() throws(FormatError) -> Fault {
        let sequence: LogSequence = try number()
        let origin: EventContext.Origin
        if try fixed(UInt8.self) == 0 {
            origin = .position(try number())
        } else {
            guard let replica = ReplicaID(try sizedString()) else {
                throw .damaged("a replica in it has no usable name")
            }
            origin = .intent(IntentID(replica: replica, number: try number()))
        }
        return Fault(sequence: sequence, origin: origin, reason: try sizedString())
    }
}

extension Fault {
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        self = try reader.fault()
    }
}
