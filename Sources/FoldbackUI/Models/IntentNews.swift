import Foldback

/// The answers to a log's intents, in log order, each after the model has a view with it; see
/// ``StoreModel/news(after:)``.
///
/// Each answer comes once (U27). A slow reader misses no answer and costs no memory. At the end of
/// the log, the sequence waits for more answers. It ends when the store is closed or the task is
/// canceled. It keeps the store.
///
/// Do not use it to wait for one intent: ``OptimisticModel/updates(of:)`` does that.
public struct IntentNews<Event: Sendable>: AsyncSequence, Sendable {
    public typealias Element = AnsweredIntent<Event>
    /// The error of reading the log.
    public typealias Failure = LogError

    private let link: StoreLink<Event>
    /// Nil if the store was closed before.
    private let core: StoreCore?
    private let answers: Answers?

    @MainActor init(_ link: StoreLink<Event>, after start: LogSequence) {
        self.link = link
        let store = try? link.openStore
        core = store?.core
        answers = store?.answers(after: start)
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(link: link, core: core, answers: answers?.makeAsyncIterator())
    }

    /// A cursor over the answers. Each iterator reads all answers.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let link: StoreLink<Event>
        fileprivate let core: StoreCore?
        fileprivate var answers: Answers.AsyncIterator?
        /// An answer whose intent could not be read.
        private var unread: Answer?

        fileprivate init(
            link: StoreLink<Event>, core: StoreCore?, answers: Answers.AsyncIterator?
        ) {
            (self.link, self.core, self.answers) = (link, core, answers)
        }

        /// Returns the next answer, or waits for it. Nil if the store is closed or the task is
        /// canceled.
        ///
        /// - Throws: as ``/Foldback/Answers/AsyncIterator/next()``. Another call tries again.
        public mutating func next() async throws(LogError) -> AnsweredIntent<Event>? {
            if unread == nil { unread = try await answers?.next() }
            guard let core, let answer = unread else { return nil }
            let isLast = answers?.following?.sequence != answer.sequence
            let answered: AnsweredIntent<Event>
            do throws(LogError) {
                answered = try await AnsweredIntent(answer, isLastOfEntry: isLast, in: core)
            } catch .closed {
                return nil
            }
            await link.adoptNow()  // mutant: news-before-view
            // A closed store cannot be shown any more.
            guard await link.revision >= answer.sequence else { return nil }
            unread = nil
            return answered
        }
    }
}

/// An answer to an intent, with the intent.
public struct AnsweredIntent<Event: Sendable>: Sendable {
    /// The answer, with the intent's number and the entry of the answer.
    public let answer: Answer
    /// The event as it was recorded; nil if this code cannot read it.
    public let event: Event?
    /// The event with which the server has replaced it; nil if it has not. What a downlink delivers
    /// does not count.
    public let replacement: Event?
    /// Who began the intent.
    public let initiator: Initiator
    /// The sequence to keep once this answer is shown: ``StoreModel/news(after:)`` goes on
    /// after it. If an entry has several answers, it is the entry only for the last of them, so that
    /// a crash between them repeats answers, and loses none.
    public let continueAfter: LogSequence

    fileprivate init(
        _ answer: Answer, isLastOfEntry: Bool, in core: StoreCore
    ) async throws(LogError) {
        self.answer = answer
        let recorded = try core.recorded(answer.intent)
        event = recorded.payload.event()
        initiator = Initiator(info: recorded.info)
        let entry = try core.records(from: answer.sequence, upTo: answer.sequence).first?.entry
        if case .acknowledged(let acknowledged)? = entry {
            replacement = acknowledged.replacement?.event()
        } else {
            replacement = nil
        }
        continueAfter =
            isLastOfEntry ? answer.sequence : LogSequence(answer.sequence.value - 1)
    }
}
