extension LogSection {
    private static let version: UInt8 = 1

    /// Returns the section's bytes.
    ///
    /// - Parameter replicas: the log's table of replicas.
    /// - Complexity: O(n) in the overlay.
    package func encoded(replicas: ReplicaTable) -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.variable(through)
        writer.variable(nextNumber)
        writer.fixed(chain)
        writer.variable(UInt64(rejections.count))
        for (number, sequence) in rejections {
            writer.variable(number)
            writer.variable(sequence)
        }
        writer.variable(UInt64(overlay.count))
        for intent in overlay { Self.write(intent, to: &writer, replicas) }
        return writer.bytes
    }

    /// Writes an intent and its acceptance as records, so that the code that reads records reads
    /// them too.
    ///
    /// The records have no chain. The acceptance's record has the time of the intent.
    private static func write(
        _ intent: UnsettledIntent, to writer: inout ByteWriter, _ replicas: ReplicaTable
    ) {
        func write(_ entry: Entry, _ sequence: LogSequence, _ time: Timestamp, _ replica: ReplicaID)
        {
            let record = Record(
                stamp: Stamp(sequence: sequence, time: time), replica: replica,
                info: intent.recorded.info, entry: entry)
            writer.variable(sequence)
            writer.sized(record.encoded(predecessor: 0, replicas: replicas).bytes)
        }
        let recorded = intent.recorded
        write(.intent(recorded), recorded.sequence, recorded.time, recorded.id.replica)
        writer.fixed(UInt8(intent.acceptance == nil ? 0 : 1))
        guard let acceptance = intent.acceptance else { return }
        let answer = Acknowledged(
            number: recorded.number, position: acceptance.position,
            replacement: acceptance.replacement, settles: false)  // mutant: checkpoint-replacement
        write(
            .acknowledged(answer), acceptance.sequence, recorded.time, recorded.id.replica)
    }

    package init(
        decoding bytes: [UInt8], at sequence: LogSequence, replicas: ReplicaTable,
        codec: any PayloadCodec
    ) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("checkpointed log format \(version)") }
        let through: Position = try reader.number()
        let nextNumber: IntentNumber = try reader.number()
        let chain = try reader.fixed(UInt64.self)
        var rejections = NumberMap<IntentNumber, LogSequence>()
        for _ in 0..<(try reader.variable()) {
            let number: IntentNumber = try reader.number()
            rejections[number] = try reader.number()
        }
        var overlay: [UnsettledIntent] = []
        for _ in 0..<(try reader.variable()) {
            overlay.append(try Self.intent(&reader, replicas, codec))
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        let numbers = overlay.map(\.recorded.number)
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }),
            numbers.last.map({ $0 < nextNumber }) ?? true
        else { throw .damaged("its overlay is out of order") }
        self.init(
            sequence: sequence, through: through, nextNumber: nextNumber, chain: chain,
            overlay: overlay, rejections: rejections)
    }

    private static func intent(
        _ reader: inout ByteReader, _ replicas: ReplicaTable, _ codec: any PayloadCodec
    ) throws(FormatError) -> UnsettledIntent {
        let (_, entry) = try record(&reader, replicas, codec)
        guard case .intent(let recorded) = entry else {
            throw .damaged("an entry of its overlay is not an intent")
        }
        guard try reader.fixed(UInt8.self) != 0 else { return UnsettledIntent(recorded) }
        let (sequence, answer) = try record(&reader, replicas, codec)
        guard case .acknowledged(let answer) = answer, answer.number == recorded.number else {
            throw .damaged("intent \(recorded.number) in it has no acknowledgement of its own")
        }
        let acceptance = Acceptance(
            position: answer.position, replacement: answer.replacement, sequence: sequence)
        return UnsettledIntent(recorded, acceptance: acceptance)
    }

    private static func record(
        _ reader: inout ByteReader, _ replicas: ReplicaTable, _ codec: any PayloadCodec
    ) throws(FormatError) -> (LogSequence, Entry) {
        let sequence: LogSequence = try reader.number()
        let record = try Record.decoded(
            try reader.sized(), at: sequence, predecessor: nil, replicas: replicas, codec: codec
        ).record
        return (sequence, record.entry)
    }
}

extension ProjectionSection {
    private static let version: UInt8 = 1

    /// Returns the section's bytes.
    ///
    /// - Complexity: O(n) in the state, with one copy of it.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: state.count + 16 + faults.count * 64)
        writer.fixed(Self.version)
        writer.variable(UInt64(faults.count))
        for fault in faults { writer.write(fault) }
        writer.raw(state)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of identity: ProjectionIdentity) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("checkpointed state format \(version)") }
        var faults: [Fault] = []
        for _ in 0..<(try reader.variable()) { faults.append(try reader.fault()) }
        self.init(identity: identity, faults: faults, state: reader.rest())
    }
}

extension UnreadEvents {
    private static let version: UInt8 = 1

    /// Returns the bytes of the section.
    ///
    /// - Complexity: O(n) in the events.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.variable(UInt64(entryCount))
        var last: UInt64 = 0
        for (sequence, places) in entries {
            writer.variable(sequence.value - last)
            last = sequence.value
            writer.variable(UInt64(places.count))
            var lastPlace = 0
            for place in places {
                writer.variable(UInt64(place - lastPlace))
                lastPlace = place
            }
        }
        return writer.bytes
    }

    /// Reads the section of a checkpoint at `sequence`.
    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        self.init()
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("unread events format \(version)") }
        var last: UInt64 = 0
        for _ in 0..<(try reader.variable()) {
            let (next, overflow) = last.addingReportingOverflow(try reader.variable())
            guard !overflow, next > last, next <= sequence.value else {
                throw .damaged("its unread events are out of order")
            }
            last = next
            append(try Self.places(&reader), at: LogSequence(next))
        }
        guard reader.isAtEnd, !isEmpty else { throw .damaged("it has no list of unread events") }
    }

    private static func places(_ reader: inout ByteReader) throws(FormatError) -> [Int] {
        var places: [Int] = []
        var last: UInt64 = 0
        for index in 0..<(try reader.variable()) {
            let (place, overflow) = last.addingReportingOverflow(try reader.variable())
            guard !overflow, place > last || index == 0, let place = Int(exactly: place) else {
                throw .damaged("the places of its unread events are out of order")
            }
            last = UInt64(place)
            places.append(place)
        }
        guard !places.isEmpty else { throw .damaged("an entry of its unread events has none") }
        return places
    }
}
