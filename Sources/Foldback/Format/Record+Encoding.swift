extension Record {
    /// Returns the record's bytes; see ``encode(into:predecessor:replicas:)``.
    package func encoded(
        predecessor: UInt64, replicas: ReplicaTable
    ) -> (bytes: [UInt8], checksum: UInt64) {
        var writer = ByteWriter(capacity: RecordFormat.headerBytes + 64 + payloadBytes)
        let checksum = encode(into: &writer, predecessor: predecessor, replicas: replicas)
        return (writer.bytes, checksum)
    }

    /// Appends the record's bytes.
    ///
    /// - Parameters:
    ///   - predecessor: the checksum of the record before, which makes the chain; 0 for the first
    ///     (L5).
    ///   - replicas: the log's table of replicas.
    /// - Returns: the checksum at the end of the bytes.
    /// - Precondition: `replicas` has the record's replica, and `info` has at most
    ///   ``Limits/infoBytesMax`` encoded bytes.
    func encode(
        into writer: inout ByteWriter, predecessor: UInt64, replicas: ReplicaTable
    ) -> UInt64 {
        let start = writer.bytes.count
        let format = eventFormat ?? .none
        let info = Self.encoded(info: info)
        guard let index = replicas.index(of: replica) else {
            preconditionFailure("replica \(replica) is not in the log's table")
        }
        precondition(
            info.count <= Limits.infoBytesMax,
            "the info has \(info.count) bytes, and its caller did not check them")
        // The first eight bytes are one number: six appends cost more than the checksum.
        writer.fixed(
            UInt64(RecordFormat.version) | UInt64(kind.rawValue) << 8 | UInt64(flags) << 16
                | UInt64(format.codec) << 24 | UInt64(format.version) << 32 | UInt64(index) << 48)
        writer.fixed(stamp.time.millisecondsSince1970)
        writer.fixed(predecessor)
        writer.fixed(UInt16(info.count))
        writer.raw(info)
        writeBody(to: &writer, replicas)
        return writer.seal(from: start, seed: stamp.sequence.value)
    }

    /// Returns the bytes of `info` in a header. At most ``Limits/infoBytesMax`` are allowed.
    package static func encoded(info: [String: String]) -> [UInt8] {
        guard !info.isEmpty else { return [] }
        var writer = ByteWriter()
        for (key, value) in info.sorted(by: { ExactString($0.key) < ExactString($1.key) }) {
            writer.sized(key)
            writer.sized(value)
        }
        return writer.bytes
    }

    private var kind: RecordFormat.Kind {
        switch entry {
        case .intent: .intent
        case .acknowledged: .acknowledged
        case .changed(_, let change): RecordFormat.Kind(change.kind)
        case .confirmed: .confirmed
        }
    }

    /// The format of the record's events; nil if there are none, or if each event has its own.
    private var eventFormat: EventFormat? {
        switch entry {
        case .intent(let intent): intent.payload.format
        case .acknowledged(let answer): answer.replacement?.format
        case .confirmed(let batch):
            batch.hasSeveralFormats ? nil : batch.events.first?.payload.format
        case .changed: nil
        }
    }

    private var payloadBytes: Int {
        switch entry {
        case .intent(let intent):
            intent.payload.bytes.count + (intent.terms.inverse?.bytes.count ?? 0)
        case .acknowledged(let answer): answer.replacement?.bytes.count ?? 0
        case .confirmed(let batch): batch.events.reduce(0) { $0 + $1.payload.bytes.count + 32 }
        case .changed: 0
        }
    }

    private var flags: UInt8 {
        switch entry {
        case .intent(let intent):
            typealias Flag = RecordFormat.IntentFlag
            return (intent.isConfirmOnly ? Flag.confirmOnly : 0)
                | (intent.once != nil ? Flag.once : 0)
                | (intent.retries != nil ? Flag.retries : 0)
                | (intent.terms.flags != 0 ? Flag.terms : 0)
        case .acknowledged(let answer):
            typealias Flag = RecordFormat.AcknowledgedFlag
            return (answer.position != nil ? Flag.position : 0)
                | (answer.replacement != nil ? Flag.replacement : 0)
                | (answer.settles ? Flag.settles : 0)
        case .changed(_, let change):
            switch change {
            case .rejected(let rejection):
                return rejection.code != nil ? RecordFormat.RejectedFlag.code : 0
            case .abandoned: return RecordFormat.WithdrawnFlag.mayHaveLeft
            case .undone: return RecordFormat.WithdrawnFlag.undone
            case .lapsed: return RecordFormat.WithdrawnFlag.lapsed
            case .withdrawn, .dismissed, .released, .restored: return 0
            }
        case .confirmed(let batch):
            return batch.hasSeveralFormats ? RecordFormat.ConfirmedFlag.formats : 0
        }
    }

    private func writeBody(to writer: inout ByteWriter, _ replicas: ReplicaTable) {
        switch entry {
        case .intent(let intent):
            writer.variable(intent.number)
            if let once = intent.once { writer.sized(once.string) }
            if let retries = intent.retries { writer.variable(retries) }
            intent.terms.write(to: &writer)
            writer.raw(intent.payload.bytes)
        case .acknowledged(let answer):
            writer.variable(answer.number)
            if let position = answer.position { writer.variable(position) }
            if let replacement = answer.replacement { writer.raw(replacement.bytes) }
        case .changed(let number, let change):
            writer.variable(number)
            guard let rejection = change.rejection else { return }
            if let code = rejection.code { writer.sized(code) }
            writer.sized(rejection.message)
        case .confirmed(let batch): writeBatch(batch, to: &writer, replicas)
        }
    }

    private func writeBatch(
        _ batch: ConfirmedBatch, to writer: inout ByteWriter, _ replicas: ReplicaTable
    ) {
        writer.variable(batch.through)
        writer.variable(UInt64(batch.settled.count))
        var last: UInt64 = 0
        for number in batch.settled {
            writer.variable(number.value - last)
            last = number.value
        }
        writer.variable(UInt64(batch.events.count))
        let hasSeveralFormats = batch.hasSeveralFormats
        for event in batch.events {
            writer.variable(event.position)
            writeOrigin(event.origin, to: &writer, replicas)
            if hasSeveralFormats {
                writer.fixed(event.payload.format.codec)
                writer.fixed(event.payload.format.version)
            }
            writer.sized(event.payload.bytes)
        }
    }

    private func writeOrigin(
        _ origin: IntentID?, to writer: inout ByteWriter, _ replicas: ReplicaTable
    ) {
        guard let origin else {
            writer.fixed(RecordFormat.OriginTag.none)
            return
        }
        if let own = replicas.index(of: origin.replica) {
            writer.fixed(RecordFormat.OriginTag.own)
            writer.variable(UInt64(own))
        } else {
            writer.fixed(RecordFormat.OriginTag.other)
            writer.sized(origin.replica.name.string)
        }
        writer.variable(origin.number)
    }
}

extension IntentTerms {
    private typealias Term = RecordFormat.IntentTerm

    fileprivate var flags: UInt64 {
        (isHeld ? Term.held : 0) | (replacingKey != nil ? Term.replacingKey : 0)
            | (replaces != nil ? Term.replaces : 0) | (group != nil ? Term.group : 0)
            | (undoes != nil ? Term.undoes : 0) | (inverse != nil ? Term.inverse : 0)
    }

    /// Writes the flags and the fields, if there are any.
    fileprivate func write(to writer: inout ByteWriter) {
        let flags = flags
        guard flags != 0 else { return }
        writer.variable(flags)
        if let replacingKey { writer.sized(replacingKey.string) }
        if let replaces { writer.variable(replaces) }
        if let group { writer.variable(group) }
        if let undoes { writer.variable(undoes) }
        guard let inverse else { return }
        writer.fixed(inverse.format.codec)
        writer.fixed(inverse.format.version)
        writer.sized(inverse.bytes)
    }
}
