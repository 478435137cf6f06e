import Foldback

/// The search of ``RecordedHistory/minimized(candidatesMax:where:)``. It keeps the smallest history
/// found so far and the hashes of the candidates that it has tried.
///
/// Every step removes something, so the search ends. The last round tries every single step on the
/// remaining history, and none succeeds.
struct Minimizer<Event: Sendable> {
    typealias Judge = nonisolated(nonsending) (RecordedHistory<Event>) async throws -> Bool

    private struct BudgetSpent: Error {}

    private var history: RecordedHistory<Event>
    private let stillFails: Judge
    private let candidatesMax: Int
    private var candidatesTried = 0
    /// Hashes (64 bits) of the candidates that were tried. If two candidates have the same hash,
    /// the search does not try the second.
    private var known: Set<Int> = []

    init(
        _ history: RecordedHistory<Event>, candidatesMax: Int, _ stillFails: @escaping Judge
    ) {
        self.history = history
        self.candidatesMax = candidatesMax
        self.stillFails = stillFails
    }

    nonisolated(nonsending) mutating func minimized() async throws -> Minimized<Event> {
        do {
            guard try await adopts(history.records) else { return result(.neverFailed) }
            var tried: Int
            repeat {
                tried = candidatesTried
                try await removeEntries()
                try await lowerEntries()
            } while candidatesTried > tried
            return result(.minimalForThesePasses)
        } catch is BudgetSpent {
            return result(.stoppedByBudget)
        }
    }

    private func result(_ end: Minimized<Event>.End) -> Minimized<Event> {
        Minimized(history: history, end: end, candidatesTried: candidatesTried)
    }

    /// Continues the search from those of `records` that follow from each other, if that history
    /// still fails. Returns whether it does; false for a candidate that was tried before.
    private nonisolated(nonsending) mutating func adopts(_ records: [Record]) async throws -> Bool {
        let candidate = history.following(records)
        guard known.insert(candidate.records.minimizingHash).inserted else { return false }
        guard candidatesTried < candidatesMax else { throw BudgetSpent() }
        candidatesTried += 1
        guard try await stillFails(candidate) else { return false }
        history = candidate
        return true
    }

    // MARK: Entries

    private nonisolated(nonsending) mutating func removeEntries() async throws {
        var chunks = Chunks(of: history.count)
        while let chunk = chunks.next() {
            guard try await adopts(history.records.removing(chunk)) else { continue }
            chunks.removed(leaving: history.count)
        }
    }

    private nonisolated(nonsending) mutating func lowerEntries() async throws {
        for sequence in history.sequences.reversed() {
            // Each step may remove the entry: a batch that brings nothing new leaves the history.
            guard try await keepsEntry(at: sequence), try await keepsEvents(at: sequence) else {
                continue
            }
            while try await lowersTerm(at: sequence) {}
            try await lowerPayloads(at: sequence)
        }
    }

    private func place(of sequence: LogSequence) -> Int? {
        history.records.firstIndex { $0.stamp.sequence == sequence }
    }

    /// Tries a history with another entry at a place.
    private nonisolated(nonsending) mutating func adopts(
        _ entry: Entry, at place: Int
    ) async throws -> Bool {
        var records = history.records
        records[place] = records[place].replacing(entry)
        return try await adopts(records)
    }

    /// Tries to remove an intent and to keep the events that name it. Returns false if the entry is
    /// gone.
    private nonisolated(nonsending) mutating func keepsEntry(
        at sequence: LogSequence
    ) async throws -> Bool {
        guard let place = place(of: sequence) else { return false }
        guard case .intent = history.records[place].entry else { return true }
        var records = history.records
        records.remove(at: place)
        return try await !adopts(records)
    }

    /// Tries to remove events from a batch. Returns false if the batch is gone.
    private nonisolated(nonsending) mutating func keepsEvents(
        at sequence: LogSequence
    ) async throws -> Bool {
        guard let place = place(of: sequence) else { return false }
        guard case .confirmed(var batch) = history.records[place].entry else { return true }
        var chunks = Chunks(of: batch.events.count)
        while let chunk = chunks.next() {
            var events = batch.events
            events.removeSubrange(chunk)
            let smaller = batch.replacing(events: events)
            guard try await adopts(.confirmed(smaller), at: place) else { continue }
            guard self.place(of: sequence) != nil else { return false }
            batch = smaller
            chunks.removed(leaving: events.count)
        }
        return true
    }

    /// Tries to remove one term from an entry. Returns whether it did.
    private nonisolated(nonsending) mutating func lowersTerm(
        at sequence: LogSequence
    ) async throws -> Bool {
        guard let place = place(of: sequence) else { return false }
        for simpler in history.records[place].entry.simpler
        where try await adopts(simpler, at: place) {
            return true
        }
        return false
    }

    // MARK: Payloads

    private nonisolated(nonsending) mutating func lowerPayloads(
        at sequence: LogSequence
    ) async throws {
        guard let place = place(of: sequence) else { return }
        for (index, payload) in history.records[place].entry.payloads.enumerated() {
            guard let json = payload.json else { continue }
            let codec = history.codec
            _ = try await json.shrunk { candidate in
                let payload = codec.payload(reading: candidate.encoded, format: payload.format)
                guard !payload.isUnreadable else { return false }
                let entry = history.records[place].entry
                return try await adopts(
                    entry.replacingPayload(at: index, with: payload), at: place)
            }
        }
    }
}

extension Payload {
    /// The payload as JSON; nil if it has another format or this code cannot read it.
    fileprivate var json: JSON? {
        guard format.codec == EventFormat.json.codec, !isUnreadable else { return nil }
        do throws(JSONError) { return try JSON(parsing: bytes) } catch { return nil }
    }
}

extension [Record] {
    /// Returns the records without some entries. Also removes the events in later batches that name
    /// a removed intent.
    fileprivate func removing(_ chunk: Range<Int>) -> [Record] {
        var gone: Set<IntentID> = []
        for record in self[chunk] {
            if case .intent(let intent) = record.entry { gone.insert(intent.id) }
        }
        let later = self[chunk.upperBound...].map { record in
            guard case .confirmed(let batch) = record.entry else { return record }
            let events = batch.events.filter { $0.origin.map { !gone.contains($0) } ?? true }
            guard events.count < batch.events.count else { return record }
            return record.replacing(.confirmed(batch.replacing(events: events)))
        }
        return self[..<chunk.lowerBound] + later
    }

    /// A hash of everything that minimizing changes. The rest of a record depends only on its
    /// sequence.
    fileprivate var minimizingHash: Int {
        var hasher = Hasher()
        for record in self {
            hasher.combine(record.stamp.sequence)
            for payload in record.entry.payloads { hasher.combine(payload.bytes) }
            switch record.entry {
            case .intent(let intent):
                hasher.combine(intent.isConfirmOnly)
                hasher.combine(intent.once)
                hasher.combine(intent.retries)
                intent.terms.hash(into: &hasher)
            case .acknowledged(let answer):
                hasher.combine(answer.position)
                hasher.combine(answer.replacement == nil)
            case .confirmed(let batch):
                hasher.combine(batch.through)
                for event in batch.events { hasher.combine(event.position) }
                for event in batch.events { hasher.combine(event.origin) }
            case .changed: break
            }
        }
        return hasher.finalize()
    }
}
