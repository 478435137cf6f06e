extension LogStorage {
    package func decodedRecords(
        from start: LogSequence, countMax: Int, codec: any PayloadCodec
    ) throws(FoldbackError) -> [Record] {
        var decoded: [Record] = []
        var expected = max(start, 1)
        for (sequence, bytes) in try records(from: start, countMax: countMax) {
            guard sequence == expected || hasGaps else { throw missing(expected) }
            expected = sequence.next
            do throws(FormatError) {
                decoded.append(
                    try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: header.replicas,
                        codec: codec
                    ).record)
            } catch {
                throw FoldbackError(error, at: path, sequence: sequence)
            }
        }
        return decoded
    }

    package func missing(_ sequence: LogSequence) -> FoldbackError {
        .damaged(path: path, sequence: sequence, reason: "the record is missing")
    }
}
