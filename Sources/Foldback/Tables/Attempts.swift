// Table `attempts`: the key is the intent's number, the value is its attempt.

/// The bytes of an attempt.
///
/// A row without a suspicion has format 1, so that older code reads it. Format 2 adds the suspicion
/// at the end (S3).
extension Attempt {
    private enum Version {
        static let plain: UInt8 = 1
        static let suspicious: UInt8 = 2
    }

    private enum Flag {
        static let failure: UInt8 = 1
        static let next: UInt8 = 2
        /// Only in format 2. Flag 4 is reserved there.
        static let quarantine: UInt8 = 8

        static func all(in version: UInt8) -> UInt8 {
            version == Version.plain ? failure | next : failure | next | quarantine
        }
    }

    package func encoded(for number: IntentNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 48 + (failure?.reason.utf8.count ?? 0))
        let isPlain = suspicion == .none
        writer.fixed(isPlain ? Version.plain : Version.suspicious)
        writer.fixed(
            (failure == nil ? 0 : Flag.failure) | (next == nil ? 0 : Flag.next)
                | (quarantine == nil ? 0 : Flag.quarantine))
        writer.variable(UInt64(count))
        writer.fixed(startedAt.millisecondsSince1970)
        if let next { writer.fixed(next.millisecondsSince1970) }
        if let failure {
            writer.fixed(failure.at.millisecondsSince1970)
            writer.sized(failure.reason)
        }
        if !isPlain { write(suspicion, to: &writer) }
        _ = writer.seal(seed: number.value)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], for number: IntentNumber) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: number.value)
        let version = try reader.fixed(UInt8.self)
        guard version == Version.plain || version == Version.suspicious else {
            throw .newer("attempt format \(version)")
        }
        let flags = try reader.fixed(UInt8.self)
        guard flags & ~Flag.all(in: version) == 0 else { throw .newer("attempt flags \(flags)") }
        guard let count = Int(exactly: try reader.variable()), count >= 1 else {
            throw .damaged("its count of attempts is not from 1 up")
        }
        let started = try reader.timestamp()
        let next = flags & Flag.next == 0 ? nil : try reader.timestamp()
        var failure: Failure?
        if flags & Flag.failure != 0 {
            failure = Failure(at: try reader.timestamp(), reason: try reader.sizedString())
        }
        var suspicion = Suspicion.none
        if version == Version.suspicious {
            suspicion = try reader.suspicion(isQuarantined: flags & Flag.quarantine != 0)
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        self.init(
            count: count, startedAt: started, failure: failure, next: next, suspicion: suspicion)
    }

    private func write(_ suspicion: Suspicion, to writer: inout ByteWriter) {
        writer.variable(UInt64(suspicion.failures))
        writer.variable(UInt64(suspicion.intentsMax ?? 0))
        guard let quarantine = suspicion.quarantine else { return }
        writer.fixed(quarantine.since.millisecondsSince1970)
        writer.sized(quarantine.reason)
    }
}

extension ByteReader {
    fileprivate mutating func timestamp() throws(FormatError) -> Timestamp {
        Timestamp(millisecondsSince1970: try fixed())
    }

    fileprivate mutating func suspicion(
        isQuarantined: Bool
    ) throws(FormatError) -> Attempt.Suspicion {
        guard let failures = Int32(exactly: try variable()).map(Int.init),
            let intents = Int32(exactly: try variable()).map(Int.init)
        else { throw .damaged("its number of failures or intents is too large") }
        let intentsMax = intents == 0 ? nil : intents
        guard isQuarantined else {
            return Attempt.Suspicion(failures: failures, intentsMax: intentsMax, quarantine: nil)
        }
        guard intentsMax == 1 else { throw .damaged("it is quarantined and not sent alone") }
        return Attempt.Suspicion(
            failures: failures, intentsMax: intentsMax,
            quarantine: Attempt.Quarantine(
                since: try timestamp(), reason: try sizedString()))
    }
}

// MARK: Read

extension LogStorage {
    /// Returns all rows of the table, also rows of intents that are not pending.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the intent; `.closed`, `.storage`.
    /// - Complexity: O(n) in rows. There are at most as many as pending intents, except after a
    ///   write by an older Foldback.
    package func attempts() throws(LogError) -> Attempts {
        var attempts = Attempts()
        try scanAttempts { number, bytes throws(LogError) in
            do throws(FormatError) {
                attempts[number] = try Attempt(decoding: bytes, for: number)
            } catch {
                throw LogError(
                    error, at: "\(path), table attempts, intent \(number)", sequence: nil)
            }
        }
        return attempts
    }

    /// Returns the attempts of pending intents. An older Foldback does not remove an intent's row
    /// when it records an answer, so this call ignores such rows.
    package func attempts(of overlay: Overlay) throws(LogError) -> Attempts {
        var attempts = try attempts()
        for number in attempts.keys where overlay[number]?.state != .pending {
            attempts[number] = nil
        }
        return attempts
    }

    /// Calls `body` with each row of table `attempts`, in order of intents. Reads bounded pieces
    /// (L8).
    package func scanAttempts(
        _ body: (IntentNumber, [UInt8]) throws(LogError) -> Void
    ) throws(LogError) { try scan(.attempts, body) }
}

// MARK: Write

extension WriteBatch {
    package mutating func writeAttempt(_ attempt: Attempt, of number: IntentNumber) {
        attempts[number] = .some(attempt)
    }

    package mutating func removeAttempt(of number: IntentNumber) {
        attempts[number] = .some(nil)
    }
}

// MARK: Verify

extension LogStorage {
    /// Returns the rows that cannot be decoded. The entries do not determine attempts, so there is
    /// nothing to compare a row with.
    func flawedAttempts() throws(LogError) -> [(IntentNumber, FormatError)] {
        var flaws: [(IntentNumber, FormatError)] = []
        try scanAttempts { number, bytes in
            do throws(FormatError) { _ = try Attempt(decoding: bytes, for: number) } catch {
                flaws.append((number, error))
            }
        }
        return flaws
    }
}
