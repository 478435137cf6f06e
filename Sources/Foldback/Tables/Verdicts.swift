// Table `verdicts`: the key is the intent's number, the value is its settlement.

/// The bytes of a settlement.
extension SettlementRow {
    private static let version: UInt8 = 1

    package func encoded(for number: IntentNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 26)
        writer.fixed(Self.version)
        let code: UInt8 =
            switch settlement {
            case nil: 0
            case .confirmed: 1
            case .rejected(isDismissed: false): 2
            case .rejected(isDismissed: true): 3
            case .withdrawn: 4
            }
        writer.fixed(code)
        writer.fixed(intentSequence.value)
        writer.fixed(settlementSequence.value)
        _ = writer.seal(seed: number.value)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], for number: IntentNumber) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: number.value)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("verdict format \(version)") }
        let settlement: Settlement?
        switch try reader.fixed(UInt8.self) {
        case 0: settlement = nil
        case 1: settlement = .confirmed
        case 2: settlement = .rejected(isDismissed: false)
        case 3: settlement = .rejected(isDismissed: true)
        case 4: settlement = .withdrawn
        case let code: throw .newer("verdict \(code)")
        }
        self.init(
            settlement: settlement, intentSequence: LogSequence(try reader.fixed()),
            settlementSequence: LogSequence(try reader.fixed()))
    }
}

// MARK: Read

extension LogStorage {
    /// Returns the bytes of an intent's row in table `verdicts`, not verified; nil if it has none.
    package func settlement(of number: IntentNumber) throws(LogError) -> [UInt8]? {
        try value(at: LogKey(number), in: .verdicts)
    }

    /// Calls `body` with each row of table `verdicts`, in order of intents. Reads bounded pieces
    /// (L8).
    func scanVerdicts(
        _ body: (IntentNumber, [UInt8]) throws(LogError) -> Void
    ) throws(LogError) { try scan(.verdicts, body) }

    /// Calls `body` with the settlements of the intents before a base that the entries up to it settled.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the intent; the storage's errors.
    func scanSettlements(
        before base: LogBase, _ body: (IntentNumber, SettlementRow) -> Void
    ) throws(LogError) {
        try scanVerdicts { number, bytes throws(LogError) in
            guard number < base.nextNumber else { return }
            do throws(FormatError) {
                let row = try SettlementRow(decoding: bytes, for: number)
                if row.settlementSequence <= base.sequence { body(number, row) }
            } catch {
                throw LogError(
                    error, at: "\(path), table verdicts, intent \(number)", sequence: nil)
            }
        }
    }

    /// Returns a settled intent: its row in table verdicts, and the intent as its entry recorded
    /// it.
    ///
    /// - Throws: as ``foundIntent(_:codec:uncommitted:)``; `.compactedIntent` if its entry was removed.
    package func settledIntent(
        _ number: IntentNumber, codec: any PayloadCodec
    ) throws(LogError) -> (row: SettlementRow, recorded: RecordedIntent) {
        let found = try foundIntent(number, codec: codec)
        guard let recorded = found.recorded else {
            throw .compactedIntent(number, found.row.settlement?.state ?? .pending)
        }
        return (found.row, recorded)
    }

    /// Returns a settled intent, also one whose entry was removed (C4).
    ///
    /// - Parameter uncommitted: the changes of the transaction being prepared. They take precedence
    ///   over the log.
    /// - Throws: `.damaged`, `.newerFormat`, `.storage`.
    func foundIntent(
        _ number: IntentNumber, codec: any PayloadCodec, uncommitted: WriteBatch = WriteBatch()
    ) throws(LogError) -> FoundIntent {
        let row = try settledRow(of: number, uncommitted)
        let sequence = row.intentSequence
        let pending = uncommitted.record(at: sequence)
        let bytes: [UInt8]?
        do throws(LogError) {
            bytes = pending != nil ? pending : try record(at: sequence)
        } catch .compacted {
            return FoundIntent(row: row, id: try removedID(of: number), recorded: nil)
        }
        guard let bytes else { throw missing(sequence) }
        guard case .intent(let recorded) = try entry(bytes, at: sequence, codec: codec),
            recorded.number == number
        else {
            throw .damaged(
                path: path, sequence: sequence, reason: "the entry should be intent \(number)")
        }
        return FoundIntent(row: row, id: recorded.id, recorded: recorded)
    }

    private func removedID(of number: IntentNumber) throws(LogError) -> IntentID {
        guard let id = base?.id(of: number, header.replicas) else {
            throw .damaged(
                path: path, sequence: nil,
                reason: "the row base does not know the replica of intent \(number)")
        }
        return id
    }

    private func settledRow(
        of number: IntentNumber, _ uncommitted: WriteBatch
    ) throws(LogError) -> SettlementRow {
        if let row = uncommitted.settlement(of: number) { return row }
        guard let row = try settlementRow(of: number) else {
            throw .damaged(
                path: path, sequence: nil, reason: "intent \(number) has no row in table verdicts")
        }
        return row
    }

    /// Returns an intent's settlement; nil if it has none.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the intent; `.storage`.
    func settlementRow(of number: IntentNumber) throws(LogError) -> SettlementRow? {
        guard let bytes = try settlement(of: number) else { return nil }
        do throws(FormatError) {
            return try SettlementRow(decoding: bytes, for: number)
        } catch {
            throw LogError(
                error, at: "\(path), table verdicts, intent \(number)", sequence: nil)
        }
    }
}

/// A settled intent as a log has it.
struct FoundIntent {
    let row: SettlementRow
    let id: IntentID
    /// The intent as its entry has it; nil if the entry was removed (C4).
    let recorded: RecordedIntent?
}

// MARK: Write

extension WriteBatch {
    package mutating func writeSettlement(_ row: SettlementRow, of number: IntentNumber) {
        // Answers mostly come in the order of their intents.
        if let last = settlements.last, last.key >= number {
            settlements[number] = row
        } else {
            settlements.append(row, at: number)
        }
    }

    /// Returns an intent's settlement that is not committed yet; nil if the batch does not contain
    /// one.
    package func settlement(of number: IntentNumber) -> SettlementRow? { settlements[number] }
}

// MARK: Verify

extension LogStorage {
    /// Returns the rows that differ from these settlements; nil for a missing row.
    func wrongVerdicts(
        comparedWith settlements: SettlementBook
    ) throws(LogError) -> [IntentNumber: [UInt8]?] {
        var wrong: [IntentNumber: [UInt8]?] = [:]
        var found = 0
        try scanVerdicts { number, bytes throws(LogError) in
            found += settlements[number] == nil ? 0 : 1
            if settlements.flaw(in: bytes, of: number) != nil { wrong[number] = .some(bytes) }
        }
        guard found < settlements.numbers.count else { return wrong }
        for number in settlements.numbers where try settlement(of: number) == nil {
            wrong[number] = .some(nil)
        }
        return wrong
    }
}

extension SettlementBook {
    /// Returns what is wrong with an intent's row in table `verdicts`; nil if it is right.
    func flaw(in bytes: [UInt8]?, of number: IntentNumber) -> String? {
        guard let bytes else { return self[number] == nil ? nil : "it is missing" }
        do throws(FormatError) {
            let row = try SettlementRow(decoding: bytes, for: number)
            return row == self[number] ? nil : "it differs from the entries"
        } catch {
            return "\(error)"
        }
    }
}
