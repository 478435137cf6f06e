/// Answers as the log has them, from some sequence on: a cursor, so a slow reader loses nothing and
/// costs no memory (F15). Waits at the end for more; ends when the store is closed or the task is
/// cancelled.
public struct Answers: AsyncSequence, Sendable {
    public typealias Element = Answer
    public typealias Failure = FoldbackError

    let core: StoreCore
    let start: LogSequence

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(core: core, read: start)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let core: StoreCore
        /// Everything up to here has been looked at.
        var read: LogSequence
        var found: ArraySlice<Answer> = []

        /// - Throws: `.damaged`, `.newerFormat`, `.storage`; calling again tries again.
        public mutating func next() async throws(FoldbackError) -> Answer? {
            while found.isEmpty {
                guard !Task.isCancelled else { return nil }
                if read < core.writer.publishedState.sequence {
                    guard try readOn() else { return nil }
                } else {
                    guard !core.writer.listeners.isClosed else { return nil }
                    let seen = read
                    await core.writer.listeners.wait(for: .nextCommit) { [core] in
                        core.writer.publishedState.sequence <= seen
                    }
                }
            }
            return found.popFirst()
        }

        /// False where the store is closed.
        private mutating func readOn() throws(FoldbackError) -> Bool {
            do throws(FoldbackError) {
                let end = core.writer.publishedState.sequence
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
    /// What an entry answers.
    static func all(in record: Record) -> [Answer] {
        func answer(_ number: IntentNumber, _ content: Content) -> Answer {
            Answer(intent: number, content: content, sequence: record.stamp.sequence)
        }
        switch record.entry {
        case .intent, .changed(_, .dismissed): return []
        case .acknowledged(let acknowledged):
            let content: Content = acknowledged.settles ? .confirmed : .accepted
            return [answer(acknowledged.number, content)]
        case .changed(let number, .rejected(let rejection)):
            return [answer(number, .rejected(rejection))]
        case .changed(let number, .withdrawn): return [answer(number, .withdrawn)]
        case .confirmed(let batch): return batch.settled.map { answer($0, .confirmed) }
        }
    }
}
