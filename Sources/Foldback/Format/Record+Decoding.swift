extension Record {
    /// Reads a record.
    ///
    /// - Parameters:
    ///   - predecessor: the checksum of the record before; nil to skip the check of the chain.
    ///   - codec: reads the events. Events that it cannot read are kept as bytes (L5).
    ///   - overlay: the overlay before the record. An event that comes back as its intent has it is
    ///     not read a second time.
    /// - Returns: the record, and the checksum at its end.
    /// - Throws: `.damaged`, or `.newer` for a format, kind or flag that this code does not know.
    package static func decoded(
        _ bytes: [UInt8], at sequence: LogSequence, predecessor: UInt64?,
        replicas: ReplicaTable, codec: any PayloadCodec, overlay: Overlay = Overlay()
    ) throws(FormatError) -> (record: Record, checksum: UInt64) {
        var reader = try ByteReader(sealed: bytes, seed: sequence.value)
        let version = try reader.fixed(UInt8.self)
        guard version == RecordFormat.version else {
            throw version == 0
                ? .damaged("its format is 0") : .newer("record format \(version)")
        }
        let rawKind = try reader.fixed(UInt8.self)
        guard let kind = RecordFormat.Kind(rawValue: rawKind) else {
            throw 1..<128 ~= rawKind
                ? .newer("entry kind \(rawKind)") : .damaged("its kind is \(rawKind)")
        }
        let flags = try reader.fixed(UInt8.self)
        let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
        let replica = try replicas.name(at: try reader.fixed())
        let time = Timestamp(millisecondsSince1970: try reader.fixed())
        let chained = try reader.fixed(UInt64.self)
        guard predecessor == nil || predecessor == chained else {
            throw .damaged("it does not follow the record before it")
        }
        let info = try readInfo(&reader)
        var body = BodyReader(
            reader: reader, flags: flags, format: format, replicas: replicas, codec: codec,
            overlay: overlay)
        let stamp = Stamp(sequence: sequence, time: time)
        let entry = try body.entry(kind, stamp, replica, info)
        guard body.reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        let record = Record(stamp: stamp, replica: replica, info: info, entry: entry)
        return (record, reader.checksum)
    }

    /// Returns the checksum at the end of a record's bytes, without verifying it; nil if there are
    /// fewer than 8 bytes.
    package static func checksum(of bytes: [UInt8]) -> UInt64? {
        guard bytes.count >= 8 else { return nil }
        return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the time in a record's header, without verifying the record; nil if it is too short.
    package static func time(of bytes: [UInt8]) -> Timestamp? {
        // Format, kind, flags, codec, version of the codec, and replica come before it.
        let place = 8
        guard bytes.count >= place + 8 else { return nil }
        let value = bytes[place..<place + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Timestamp(millisecondsSince1970: Int64(bitPattern: value))
    }

    private static func readInfo(
        _ reader: inout ByteReader
    ) throws(FormatError) -> [String: String] {
        let count = Int(try reader.fixed(UInt16.self))
        var info: [String: String] = [:]
        guard count <= Limits.infoBytesMax else { throw .damaged("its info has \(count) bytes") }
        let end = reader.offset + count
        while reader.offset < end {
            let key = try reader.sizedString()
            info[key] = try reader.sizedString()
        }
        guard reader.offset == end else { throw .damaged("its info is longer than it says") }
        return info
    }
}

/// Reads the part of a record after its header.
private struct BodyReader {
    var reader: ByteReader
    let flags: UInt8
    let format: EventFormat
    let replicas: ReplicaTable
    let codec: any PayloadCodec
    let overlay: Overlay

    mutating func entry(
        _ kind: RecordFormat.Kind, _ stamp: Stamp, _ replica: ReplicaID,
        _ info: [String: String]
    ) throws(FormatError) -> Entry {
        switch kind {
        case .intent: return .intent(try intent(stamp, replica, info))
        case .acknowledged: return .acknowledged(try acknowledged())
        case .rejected:
            try requireKnown(RecordFormat.RejectedFlag.all)
            let number: IntentNumber = try reader.number()
            let code = has(RecordFormat.RejectedFlag.code) ? try reader.sizedString() : nil
            return .changed(
                number, .rejected(Rejection(code: code, message: try reader.sizedString())))
        case .withdrawn:
            typealias Flag = RecordFormat.WithdrawnFlag
            try requireKnown(Flag.all)
            let change: IntentChange
            switch flags {
            case 0: change = .withdrawn
            case Flag.mayHaveLeft: change = .abandoned
            case Flag.undone: change = .undone
            case Flag.lapsed: change = .lapsed
            default: throw .damaged("it has contradicting flags \(flags)")
            }
            return .changed(try reader.number(), change)
        case .dismissed:
            try requireKnown(0)
            return .changed(try reader.number(), .dismissed)
        case .released:
            try requireKnown(0)
            return .changed(try reader.number(), .released)
        case .restored:
            try requireKnown(0)
            return .changed(try reader.number(), .restored)
        case .confirmed:
            try requireKnown(RecordFormat.ConfirmedFlag.all)
            return .confirmed(try batch())
        }
    }

    private mutating func intent(
        _ stamp: Stamp, _ replica: ReplicaID, _ info: [String: String]
    ) throws(FormatError) -> RecordedIntent {
        typealias Flag = RecordFormat.IntentFlag
        try requireKnown(Flag.all)
        let number: IntentNumber = try reader.number()
        let once = has(Flag.once) ? ExactString(try reader.sizedString()) : nil
        let retries: IntentNumber? = has(Flag.retries) ? try reader.number() : nil
        let terms = has(Flag.terms) ? try self.terms() : .none
        return RecordedIntent(
            id: IntentID(replica: replica, number: number), payload: payload(reader.rest()),
            isConfirmOnly: has(Flag.confirmOnly), once: once, retries: retries, info: info,
            sequence: stamp.sequence, time: stamp.time, terms: terms)
    }

    private mutating func terms() throws(FormatError) -> IntentTerms {
        typealias Term = RecordFormat.IntentTerm
        let flags = try reader.variable()
        guard flags & ~Term.all == 0 else { throw .newer("intent flags \(flags)") }
        guard flags != 0 else { throw .damaged("it announces terms and has none") }
        var terms = IntentTerms()
        terms.isHeld = flags & Term.held != 0
        if flags & Term.replacingKey != 0 {
            terms.replacingKey = ExactString(try reader.sizedString())
        }
        if flags & Term.replaces != 0 { terms.replaces = try reader.number() }
        if flags & Term.group != 0 { terms.group = try reader.number() }
        if flags & Term.undoes != 0 { terms.undoes = try reader.number() }
        if flags & Term.inverse != 0 {
            let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
            // Only undo reads it.
            terms.inverse = RecordedEvent(format: format, bytes: try reader.sized())
        }
        return terms
    }

    private mutating func acknowledged() throws(FormatError) -> Acknowledged {
        typealias Flag = RecordFormat.AcknowledgedFlag
        try requireKnown(Flag.all)
        let number: IntentNumber = try reader.number()
        let position: Position? = has(Flag.position) ? try reader.number() : nil
        return Acknowledged(
            number: number, position: position,
            replacement: has(Flag.replacement) ? payload(reader.rest()) : nil,
            settles: has(Flag.settles))
    }

    private mutating func batch() throws(FormatError) -> ConfirmedBatch {
        let through: Position = try reader.number()
        var settled: [IntentNumber] = []
        var last: UInt64 = 0
        for _ in 0..<(try reader.variable()) {
            let (number, overflow) = last.addingReportingOverflow(try reader.variable())
            guard !overflow else { throw .damaged("a number in it is too large") }
            last = number
            settled.append(IntentNumber(number))
        }
        var events: [Confirmed] = []
        for _ in 0..<(try reader.variable()) {
            let position: Position = try reader.number()
            let origin = try origin()
            let format =
                has(RecordFormat.ConfirmedFlag.formats)
                ? EventFormat(codec: try reader.fixed(), version: try reader.fixed()) : format
            let payload = payload(try reader.sized(), format, of: origin)
            events.append(Confirmed(position: position, payload: payload, origin: origin))
        }
        return ConfirmedBatch(events: events, through: through, settled: settled)
    }

    private mutating func origin() throws(FormatError) -> IntentID? {
        let tag = try reader.fixed(UInt8.self)
        let replica: ReplicaID
        switch tag {
        case RecordFormat.OriginTag.none: return nil
        case RecordFormat.OriginTag.own:
            guard let index = UInt16(exactly: try reader.variable()) else {
                throw .damaged("it names an unknown replica")
            }
            replica = try replicas.name(at: index)
        case RecordFormat.OriginTag.other:
            guard let name = ReplicaID(try reader.sizedString()) else {
                throw .damaged("a replica in it has no usable name")
            }
            replica = name
        default: throw .newer("origin tag \(tag)")
        }
        return IntentID(replica: replica, number: try reader.number())
    }

    private func payload(_ bytes: [UInt8]) -> Payload {
        codec.payload(reading: bytes, format: format)
    }

    /// The codec reads the same event from the same bytes, whoever recorded it.
    private func payload(
        _ bytes: [UInt8], _ format: EventFormat, of origin: IntentID?
    ) -> Payload {
        if let known = origin.flatMap({ overlay[$0.number]?.payload }), known.isReadWhole,
            known.format == format, known.bytes == bytes
        {
            return known
        }
        return codec.payload(reading: bytes, format: format)
    }

    private func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    private func requireKnown(_ known: UInt8) throws(FormatError) {
        guard flags & ~known == 0 else { throw .newer("entry flags \(flags)") }
    }
}
