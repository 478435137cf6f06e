/// The answers in a log after some sequence, in log order; see ``Store/answers(after:)``.
///
/// ```swift
/// for try await answer in store.answers(after: shown) {
///     show(answer)
///     shown = answer.sequence
/// }
/// ```
///
/// The sequence is a cursor over the log (F15). A slow reader misses no answer and costs no memory.
/// At the end of the log, it waits for more answers. It ends when the store is closed or the task
/// is canceled.
///
/// Do not use it to wait for one intent: ``Receipt/settlement()`` does that.
public struct Answers: AsyncSequence, Sendable {
    /// One answer, with the entry that has it.
    public typealias Element = Answer
    /// The error of reading the log.
    public typealias Failure = LogError

    let core: StoreCore
    let start: LogSequence

    /// Returns a cursor at the beginning of the sequence. Each iterator reads all answers.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(core: core, read: start)
    }

    /// A cursor over the answers of a log.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let core: StoreCore
        /// The last entry whose answers were read.
        var read: LogSequence
        var found: ArraySlice<Answer> = []

        /// The answer after the answer that was returned last, if it was read already. All answers
        /// of one entry are read together.
        package var following: Answer? { found.first }

        /// Returns the next answer, and waits for it at the end of the log. Nil if the store is
        /// closed or the task is canceled.
        ///
        /// May block on the disk while it reads a bounded piece of the log.
        ///
        /// - Throws: `.compacted` if a compaction has removed entries after the cursor: begin again at
        ///   ``StoreStatus/base``, and look at ``Store/rejections``. `.damaged`, `.newerFormat`,
        ///   `.storage`. The cursor did not move, so another call tries again.
        public mutating func next() async throws(LogError) -> Answer? {
            while found.isEmpty {
                guard !Task.isCancelled else { return nil }
                if read < core.publication.read(\.sequence) {
                    guard try readOn() else { return nil }
                } else {
                    guard !core.publication.read(\.isClosed) else { return nil }
                    await core.publication.waitForAnswers(after: read)
                }
            }
            return found.popFirst()
        }

        /// Reads the answers of the next entries. Returns false if the store is closed.
        private mutating func readOn() throws(LogError) -> Bool {
            do throws(LogError) {
                let end = core.publication.read(\.sequence)
                let records = try core.records(from: read.next, upTo: end)
                found = records.flatMap { Answer.all(in: $0) }[...]
                read = records.last?.stamp.sequence ?? end
                return true
            } catch {
                if case .closed = error { return false }
                throw error
            }
        }
    }
}

extension Answer {
    /// Returns the answers in an entry.
    static func all(in record: Record) -> [Answer] {
        func answer(_ number: IntentNumber, _ content: Content) -> Answer {
            Answer(intent: number, content: content, sequence: record.stamp.sequence)
        }
        switch record.entry {
        case .intent(let intent):
            return intent.terms.replaces.map { [answer($0, .withdrawn)] } ?? []
        case .changed(_, .dismissed), .changed(_, .released), .changed(_, .restored): return []
        case .acknowledged(let acknowledged):
            let content: Content = acknowledged.settles ? .confirmed : .accepted
            return [answer(acknowledged.number, content)]
        case .changed(let number, .rejected(let rejection)):
            return [answer(number, .rejected(rejection))]
        case .changed(let number, .withdrawn), .changed(let number, .abandoned),
            .changed(let number, .undone), .changed(let number, .lapsed):
            return [answer(number, .withdrawn)]
        case .confirmed(let batch): return batch.settled.map { answer($0, .confirmed) }
        }
    }
}
