import Foldback
import TestSupport
import Testing

/// Question: does each record on disk read back as it was written, and is every change of its bytes
/// detected (L5)?
@Suite struct RecordTests {
    private let replicas = ReplicaTable([ReplicaID("me")!, ReplicaID("me again")!])
    private let codec = RawCodec()

    private func payload(_ text: String, version: UInt16 = 1) -> Payload {
        Payload(
            bytes: Array(text.utf8), format: EventFormat(codec: 1, version: version),
            content: .event(Array(text.utf8)))
    }

    private var entries: [Entry] {
        let me = ReplicaID("me again")!
        let intent = RecordedIntent(
            id: IntentID(replica: me, number: 300), payload: payload("{}", version: 7),
            isConfirmOnly: true, once: "like", retries: 5, info: ["who": "user", "at": ""],
            sequence: 9, time: Timestamp(millisecondsSince1970: 77))
        let plain = RecordedIntent(
            id: IntentID(replica: me, number: 1), payload: payload(""), isConfirmOnly: false,
            once: nil, retries: nil, info: [:], sequence: 9,
            time: Timestamp(millisecondsSince1970: 77))
        let batch = ConfirmedBatch(
            events: [
                Confirmed(position: 3, payload: payload("a"), origin: nil),
                Confirmed(
                    position: 2, payload: payload("b"),
                    origin: IntentID(replica: ReplicaID("me")!, number: 4)),
                Confirmed(
                    position: 2, payload: payload("c"),
                    origin: IntentID(replica: ReplicaID("other")!, number: 1_099_511_627_776)),
            ], through: 200, settled: [4, 129, 70_000])
        let mixed = ConfirmedBatch(
            events: [
                Confirmed(position: 3, payload: payload("a"), origin: nil),
                Confirmed(
                    position: 4, payload: payload("b", version: 2),
                    origin: IntentID(replica: ReplicaID("me")!, number: 4)),
            ], through: 4, settled: [4])
        return [
            .intent(intent), .intent(plain),
            .acknowledged(
                Acknowledged(number: 1, position: 9, replacement: payload("r"), settles: true)),
            .acknowledged(
                Acknowledged(number: 1, position: nil, replacement: nil, settles: false)),
            .changed(2, .rejected(Rejection(code: "forbidden", message: "not yours"))),
            .changed(2, .rejected(Rejection(message: ""))), .changed(128, .withdrawn),
            .changed(1, .dismissed),
            .confirmed(batch), .confirmed(ConfirmedBatch(events: [], through: 1, settled: [])),
            .changed(128, .abandoned),
            .confirmed(mixed),
        ]
    }

    private func record(_ entry: Entry) -> Record {
        var info: [String: String] = [:]
        if case .intent(let intent) = entry { info = intent.info }
        return Record(
            stamp: Stamp(sequence: 9, time: Timestamp(millisecondsSince1970: 77)),
            replica: ReplicaID("me again")!, info: info, entry: entry)
    }

    private func decoded(
        _ bytes: [UInt8], at sequence: LogSequence = 9, predecessor: UInt64? = 42
    ) -> Result<Record, FormatError> {
        do throws(FormatError) {
            return .success(
                try Record.decoded(
                    bytes, at: sequence, predecessor: predecessor, replicas: replicas, codec: codec
                ).record)
        } catch {
            return .failure(error)
        }
    }

    @Test func `L5: every kind of entry reads back as it was written`() throws {
        for entry in entries {
            let original = record(entry)
            let (bytes, checksum) = original.encoded(predecessor: 42, replicas: replicas)
            let (read, readChecksum) = try Record.decoded(
                bytes, at: 9, predecessor: 42, replicas: replicas, codec: codec)
            #expect(readChecksum == checksum)
            #expect(read.info == original.info)
            #expect(read.stamp.time == original.stamp.time)
            // Equal bytes after a second encoding prove that decoding loses no field.
            #expect(read.encoded(predecessor: 42, replicas: replicas).bytes == bytes)
        }
    }

    @Test func `L5: a flipped byte, a lost tail, or a wrong place is damage`() {
        for entry in entries {
            let bytes = record(entry).encoded(predecessor: 42, replicas: replicas).bytes
            for place in bytes.indices {
                var flipped = bytes
                flipped[place] ^= 0x40
                #expect(decoded(flipped).isDamaged, "byte \(place) of \(entry)")
                #expect(decoded(Array(bytes[..<place])).isDamaged)
            }
            #expect(decoded(bytes, at: 10).isDamaged)
            #expect(decoded(bytes, predecessor: 41).isDamaged)
        }
    }

    /// Returns the record with one byte changed and a valid checksum. A newer Foldback can write
    /// such a record. So can damage that the checksum does not detect.
    private func resealed(_ entry: Entry, _ place: Int, _ byte: UInt8) -> [UInt8] {
        let bytes = record(entry).encoded(predecessor: 42, replicas: replicas).bytes
        var writer = ByteWriter()
        for (index, old) in bytes.dropLast(8).enumerated() {
            writer.fixed(index == place ? byte : old)
        }
        _ = writer.seal(seed: 9)
        return writer.bytes
    }

    @Test func `L5: a newer format, kind, or flag is reported as newer, not as damage`() {
        for (place, byte) in [(0, 2), (1, 7), (1, 64), (2, 0x80)] as [(Int, UInt8)] {
            #expect(decoded(resealed(entries[0], place, byte)).isNewer, "byte \(place) is \(byte)")
        }
    }

    @Test func `L5: a batch of several formats has flag 2, and other flags are newer`()
        throws
    {
        let mixed = try #require(entries.last)
        let bytes = record(mixed).encoded(predecessor: 42, replicas: replicas).bytes
        #expect(bytes[2..<6] == [2, 0, 0, 0])
        let one = record(entries[8]).encoded(predecessor: 42, replicas: replicas).bytes
        #expect(one[2..<6] == [0, 1, 1, 0])
        for flags: UInt8 in [1, 3, 4] { #expect(decoded(resealed(mixed, 2, flags)).isNewer) }
        guard case .success(let read) = decoded(bytes), case .confirmed(let batch) = read.entry
        else {
            Issue.record("\(decoded(bytes))")
            return
        }
        #expect(batch.events.map(\.payload.format.version) == [1, 2])
    }

    @Test func `decoding a record with any changed byte returns a record or an error`() {
        for entry in entries {
            let count = record(entry).encoded(predecessor: 42, replicas: replicas).bytes.count - 8
            for place in 0..<count {
                for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                    // Changed bytes can be a valid record. If so, it must read back after encoding.
                    guard case .success(let record) = decoded(resealed(entry, place, byte)) else {
                        continue
                    }
                    let again = record.encoded(predecessor: 42, replicas: replicas).bytes
                    #expect(decoded(again).isDamaged == false)
                }
            }
        }
    }

    @Test func `verdicts and the header read back, and changed bytes are an error`() throws {
        for verdict in [
            nil, .confirmed, .rejected(isDismissed: false), .rejected(isDismissed: true),
            .withdrawn,
        ] as [Settlement?] {
            let row = SettlementRow(
                settlement: verdict, intentSequence: 5, settlementSequence: 1_125_899_906_842_624)
            let bytes = row.encoded(for: 3)
            #expect(try SettlementRow(decoding: bytes, for: 3) == row)
            #expect(throws: FormatError.self) { try SettlementRow(decoding: bytes, for: 4) }
        }
        let header = LogHeader(
            kind: .downlink, replicas: replicas, file: FileFingerprint(inode: 1, birth: 2),
            marks: [FileFingerprint(inode: 3, birth: 4), .none])
        #expect(try LogHeader(decoding: header.encoded()) == header)
        var flipped = header.encoded()
        flipped[4] ^= 1
        #expect(throws: FormatError.self) { try LogHeader(decoding: flipped) }
    }

    @Test func `the checksum is XXH64`() {
        func checksum(_ text: String, seed: UInt64 = 0) -> UInt64 {
            Checksum.of(Array(text.utf8).span.bytes, seed: seed)
        }
        // The values are from the specification and from the tests of the reference implementation.
        #expect(checksum("") == 0xEF46_DB37_51D8_E999)
        #expect(checksum("a") == 0xD24E_C4F1_A98C_6E5B)
        #expect(checksum("abc") == 0x44BC_2CF5_AD77_0999)
        #expect(checksum("Nobody inspects the spammish repetition") == 0xFBCE_A83C_8A37_8BF1)
        #expect(checksum("", seed: 2_654_435_761) == 0xAC75_FDA2_929B_17EF)
    }
}

extension Result where Success == Record, Failure == FormatError {
    fileprivate var isDamaged: Bool {
        if case .failure(.damaged) = self { true } else { false }
    }
    fileprivate var isNewer: Bool {
        if case .failure(.newer) = self { true } else { false }
    }
}
