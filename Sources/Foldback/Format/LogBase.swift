/// Where a compacted log begins: after the entry at ``sequence`` (C1).
///
/// ```
///  entries     1 … F            F + 1 … E
///              └ removed        └ as they were
///  checkpoint  at F: the base, which no policy removes
///  kept        records at or below F of intents that are not confirmed
/// ```
package struct LogBase: Hashable, Sendable {
    /// The last entry that was removed: F.
    package let sequence: LogSequence
    /// The checksum of its record, which the next record contains (L5).
    package let chain: UInt64
    /// The latest time of the removed entries.
    package let time: Timestamp
    /// The number of the first intent that the removed entries do not have.
    package let nextNumber: IntentNumber
    /// The first intent of each replica id in the removed entries, and the id's place in the header.
    package let replicas: [First]

    package struct First: Hashable, Sendable {
        package let number: IntentNumber
        package let place: UInt16
    }

    package init(
        sequence: LogSequence, chain: UInt64, time: Timestamp, nextNumber: IntentNumber,
        replicas: [First]
    ) {
        self.sequence = sequence
        self.chain = chain
        self.time = time
        self.nextNumber = nextNumber
        self.replicas = replicas
    }
}

extension LogBase {
    /// Returns the id of an intent that the removed entries had.
    package func id(of number: IntentNumber, _ replicas: ReplicaTable) -> IntentID? {
        guard number < nextNumber, let first = self.replicas.last(where: { $0.number <= number }),
            Int(first.place) < replicas.names.count
        else { return nil }
        return IntentID(replica: replicas.names[Int(first.place)], number: number)
    }
}

extension LogBase: LogRow {
    package static let key = KeyBytes(Array("base".utf8))
    package static let rowName = "base"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        sequence = try reader.number()
        chain = try reader.fixed()
        time = Timestamp(millisecondsSince1970: try reader.fixed())
        nextNumber = try reader.number()
        var replicas: [First] = []
        for _ in 0..<(try reader.variable()) {
            replicas.append(First(number: try reader.number(), place: try reader.fixed()))
        }
        self.replicas = replicas
        guard sequence >= 1, nextNumber >= 1 else { throw .damaged("it is before the first entry") }
    }

    package func writeFields(to writer: inout ByteWriter) {
        writer.variable(sequence)
        writer.fixed(chain)
        writer.fixed(time.millisecondsSince1970)
        writer.variable(nextNumber)
        writer.variable(UInt64(replicas.count))
        for first in replicas {
            writer.variable(first.number)
            writer.fixed(first.place)
        }
    }
}
