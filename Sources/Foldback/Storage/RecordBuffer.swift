import FoldbackCollections
import FoldbackLMDB

/// The records of one transaction, one after the other in one buffer.
///
/// An array for each record would cost more than encoding the record.
package struct RecordBuffer: Sendable {
    /// The sequence of each record, and where its bytes end. The sequences rise (L1).
    private var ends: [(sequence: LogSequence, end: Int)] = []
    private var writer = ByteWriter()

    package init() {}

    package var isEmpty: Bool { ends.isEmpty }

    /// The sequence of the last record; nil if there is none.
    var last: LogSequence? { ends.last?.sequence }

    /// Encodes a record, and adds it. Sequences must rise from call to call (L1).
    ///
    /// Parameters are those of ``Record/encode(into:predecessor:replicas:)``.
    ///
    /// - Returns: the record's checksum, and the count of its bytes.
    mutating func append(
        _ record: Record, predecessor: UInt64, replicas: ReplicaTable
    ) -> (checksum: UInt64, bytes: Int) {
        let sequence = record.stamp.sequence
        if let last = ends.last?.sequence {
            precondition(sequence > last, "L1: record \(sequence) comes after record \(last)")
        }
        let start = writer.bytes.count
        let checksum = record.encode(into: &writer, predecessor: predecessor, replicas: replicas)
        let end = writer.bytes.count
        ends.append((sequence, end))
        return (checksum, end - start)
    }

    /// Returns the record of an entry; nil if the buffer does not have it.
    func record(at sequence: LogSequence) -> [UInt8]? {
        let place = ends.partitioningIndex { $0.sequence >= sequence }
        guard place < ends.count, ends[place].sequence == sequence else { return nil }
        return Array(writer.bytes[range(at: place)])
    }

    /// An estimate of the space that the records need, in bytes.
    var reserveBytes: Int { writer.bytes.count + ends.count * TableWrite.overheadBytes }

    /// The records as writes, each with a copy of its bytes.
    var writes: [TableWrite] {
        ends.indices.map { place in
            TableWrite(
                .entries, LogKey(ends[place].sequence), Array(writer.bytes[range(at: place)]))
        }
    }

    /// Calls `body` with each record in order. `body` must not keep the bytes.
    func forEach<E: Error>(
        _ body: (LogSequence, UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        try withBytes(of: writer.bytes) { bytes throws(E) in
            for place in ends.indices {
                let record = UnsafeRawBufferPointer(rebasing: bytes[range(at: place)])
                try body(ends[place].sequence, record)
            }
        }
    }

    private func range(at place: Int) -> Range<Int> {
        (place == 0 ? 0 : ends[place - 1].end)..<ends[place].end
    }
}
