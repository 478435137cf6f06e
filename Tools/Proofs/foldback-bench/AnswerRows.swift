import Foldback
import FoldbackLMDB
import Foundation

/// The rows that a log gets while an authority answers its intents: the least that any outbox writes
/// with the same guarantees.
///
/// ```
///  first transaction of a request    an attempt for each intent
///  second                            an answer for each, and no attempt any more; in an
///                                    acknowledgement log, a verdict for each
///  third, in a downlink log          one batch with all events, and a verdict for each
/// ```
struct AnswerRows: Sendable {
    private typealias Transaction = [RawLMDB.Write]

    private let requests: [[Transaction]]
    private let count: Int

    /// - Parameters:
    ///   - count: The number of intents.
    ///   - size: The number of intents in a request.
    init(of kind: LogKind, count: Int, perRequest size: Int) {
        var records = RecordChain(after: UInt64(count))
        requests = stride(from: 1, through: count, by: size).map { first in
            let numbers = (first..<min(first + size, count + 1)).map { IntentNumber(UInt64($0)) }
            let attempts: Transaction = numbers.map {
                .attempt(records.attempt.encoded(for: $0), of: $0.value)
            }
            return [attempts] + records.answers(to: numbers, kind)
        }
        self.count = count
    }

    /// Writes the rows to a new environment, on a thread that may block.
    func pace(in directory: URL) async throws -> Pace {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false)
        let path = directory.path
        return try await Platform.onThread { () throws(any Error) in
            let raw = try RawLMDB(creating: path, .durable)
            defer { raw.close() }
            let clock = ContinuousClock()
            var latencies: [Duration] = []
            let start = clock.now
            var last = start
            for request in requests {
                for transaction in request { try raw.commit(transaction) }
                let now = clock.now
                latencies.append(now - last)
                last = now
            }
            return Pace(count: count, elapsed: last - start, latencies: latencies)
        }
    }
}

/// The records of a log, encoded one after the other.
private struct RecordChain {
    private let replica = LogSources.system.freshReplica()
    private let time = LogSources.system.now()
    private var sequence: UInt64
    private var checksum: UInt64 = 0

    init(after sequence: UInt64) { self.sequence = sequence }

    var attempt: Attempt {
        Attempt(count: 1, startedAt: time, failure: nil, next: nil, suspicion: .none)
    }

    /// The transactions of a request after the first.
    mutating func answers(
        to numbers: [IntentNumber], _ kind: LogKind
    ) -> [[RawLMDB.Write]] {
        let removals = numbers.map { RawLMDB.Write.removeAttempt(of: $0.value) }
        switch kind {
        case .acknowledgement:
            let records = numbers.map { number in
                append(
                    .acknowledged(
                        Acknowledged(
                            number: number, position: nil, replacement: nil, settles: true)))
            }
            let first = sequence - UInt64(numbers.count)
            let verdicts = numbers.enumerated().map { offset, number in
                verdict(on: number, at: first + UInt64(offset) + 1)
            }
            return [records + verdicts + removals]
        case .downlink:
            let records = numbers.map { number in
                append(
                    .acknowledged(
                        Acknowledged(
                            number: number, position: Position(number.value), replacement: nil,
                            settles: false)))
            }
            let batch = append(.confirmed(batch(of: numbers)))
            return [
                records + removals, [batch] + numbers.map { verdict(on: $0, at: sequence) },
            ]
        }
    }

    private func batch(of numbers: [IntentNumber]) -> ConfirmedBatch {
        let events = numbers.map { number in
            Confirmed(
                position: Position(number.value),
                payload: Payload(
                    bytes: Events.raw[Int(number.value) % Events.raw.count],
                    format: IdentityCodec().format, content: .unreadable("not read")),
                origin: IntentID(replica: replica, number: number))
        }
        return ConfirmedBatch(
            events: events, through: Position(numbers.last?.value ?? 0), settled: numbers)
    }

    private func verdict(on number: IntentNumber, at settled: UInt64) -> RawLMDB.Write {
        let row = SettlementRow(
            settlement: .confirmed, intentSequence: LogSequence(number.value),
            settlementSequence: LogSequence(settled))
        return .verdict(row.encoded(for: number), of: number.value)
    }

    private mutating func append(_ entry: Entry) -> RawLMDB.Write {
        sequence += 1
        let record = Record(
            stamp: Stamp(sequence: LogSequence(sequence), time: time), replica: replica, info: [:],
            entry: entry)
        let encoded = record.encoded(
            predecessor: checksum, replicas: ReplicaTable([replica]))
        checksum = encoded.checksum
        return .record(encoded.bytes, at: sequence)
    }
}
