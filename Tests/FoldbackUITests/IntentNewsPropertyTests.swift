import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether an app that tells people of answers ever misses one, tells it
/// twice, or tells it before the screen has it.
///
/// Property (U27): over random histories and frames, the news are all answers of the log, each once
/// and in log order, also if the reader stops and goes on after `continueAfter`. The updates of an
/// intent end with its answer, and cues are about rejections, in log order. When any of them comes,
/// the model is at the answer's sequence or later.
@MainActor @Suite struct IntentNewsPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U27: each answer comes once, in log order, and after the view, in any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("news, \(kind)", variable: "NEWS_SEED")
        for seed in first..<first + TestEffort.value(quick: 20, full: 40) {
            try await NewsPlay(seed, kind).run()
        }
    }
}

/// One random history.
@MainActor private final class NewsPlay {
    private static let keys = ["a", "b", "c", "d"]

    private let seed: UInt64
    private let kind: LogKind
    private let store: Store<Board>
    private let frames: Frames
    private let model: OptimisticModel<Board>
    private var story: [String] = []
    private var told: [AnsweredIntent<Move>] = []
    private var updates: [IntentNumber: [RemoteData<Answer, IntentFailure>]] = [:]
    private var cues: [Cue] = []

    init(_ seed: UInt64, _ kind: LogKind) {
        (self.seed, self.kind) = (seed, kind)
        store = Store.board(kind)
        frames = Frames(held: seed % 2 == 0)
        model = OptimisticModel(store, sources: frames.sources)
    }

    private var note: Comment { "seed \(seed), \(kind): \(story)" }

    func run() async throws {
        var random = SeededGenerator(seed: seed)
        let news = Task { try await readNews() }
        let announcements = Task { await readCues() }
        var readers: [Task<Void, Never>] = []
        for _ in 0..<50 {
            if random.oneIn(3) {
                let key = Self.keys.randomElement(using: &random) ?? "a"
                story.append("model: set \(key)")
                let receipt = try await model.perform(.set(key, 1))
                readers.append(Task { await readUpdates(of: receipt) })
            } else if kind == .downlink, random.oneIn(4) {
                try await confirmSome(Int.random(in: 1...3, using: &random))
            } else {
                story.append(try await store.act(on: Self.keys, &random))
            }
            if random.oneIn(3) { frames.begin() }
            for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
        }
        let log = try NaiveLog(store, kind)
        await untilSoon { told.count >= log.answers.count }
        await store.close()
        try await news.value
        for reader in readers { await reader.value }
        model.cues.finish()
        await announcements.value
        checkNews(log)
        checkUpdates(log)
        checkCues(log)
    }

    /// Confirms the oldest pending intents in one entry, so that it has several answers.
    private func confirmSome(_ count: Int) async throws {
        let numbers = store.snapshot.pending.prefix(count)
        guard !numbers.isEmpty else { return }
        story.append("confirm \(numbers)")
        let position = Position(store.status.through.value + 1)
        _ = try await store.confirm(
            numbers.map { number in
                ConfirmedEvent(
                    position: position, event: .set("a", 1),
                    origin: IntentID(replica: store.status.replica, number: number))
            })
    }

    // MARK: Readers

    /// Reads all news until the store is closed, with stops.
    private func readNews() async throws {
        var stops = SeededGenerator(seed: ~seed)
        var kept: LogSequence = 0
        while model.condition != .closed {
            var isStopped = false
            for try await news in model.news(after: kept) {
                #expect(model.revision >= news.answer.sequence, note)
                told.append(news)
                kept = news.continueAfter
                isStopped = stops.oneIn(4)
                if isStopped { break }
            }
            guard isStopped else { return }
            // The reader tells the answers of an entry again if it did not tell the last of them.
            told.removeAll { $0.answer.sequence > kept }
        }
    }

    private func readUpdates(of receipt: Receipt) async {
        for await update in model.updates(of: receipt) {
            updates[receipt.number, default: []].append(update.data)
            if case .success(let answer) = update.data {
                #expect(model.revision >= answer.sequence, note)
            }
        }
    }

    private func readCues() async {
        for await cue in model.cues { cues.append(cue) }
    }

    // MARK: Checks

    private func checkNews(_ log: NaiveLog<Move>) {
        #expect(told.map { NaiveAnswer($0.answer) } == log.answers, note)
        #expect(told.map(\.event) == log.answers.map { log.events[$0.intent] }, note)
    }

    /// The updates of an intent are loading at most twice: pending and accepted. Then comes an answer.
    private func checkUpdates(_ log: NaiveLog<Move>) {
        for (number, updates) in updates {
            let answers = log.answers.filter { $0.intent == number }
            #expect(updates.dropLast().allSatisfy { $0.isLoading }, note)
            #expect(updates.count <= 3, note)
            let isExpected =
                switch updates.last {
                case .success(let answer): answers.contains(NaiveAnswer(answer))
                case .failure(.rejected(let rejection)):
                    answers.contains { $0.content == .rejected(rejection) }
                case .failure(.withdrawn): answers.contains { $0.content == .withdrawn }
                case .failure(.store(.log(.closed))):
                    !(answers.last?.content.state.isSettled ?? false)
                default: false
                }
            #expect(isExpected, "\(number): \(updates), \(answers), \(note)")
        }
    }

    /// Rejections that were dismissed or retried before the view had them are not announced.
    private func checkCues(_ log: NaiveLog<Move>) {
        func cue(_ answer: NaiveAnswer) -> Cue? {
            guard case .rejected(let rejection) = answer.content else { return nil }
            let recovery = Recovery(reason: rejection.message)
            return .announce(.ended(.sending, .failed(recovery)), .assertive)
        }
        var expected = log.answers.compactMap(cue)[...]
        for cue in cues {
            guard let place = expected.firstIndex(of: cue) else {
                Issue.record("\(cue) is told again, or out of order, \(note)")
                return
            }
            expected = expected[(place + 1)...]
        }
        let seen = log.answers.filter { store.rejections.contains($0.intent) }.compactMap(cue)
        #expect(seen.allSatisfy(cues.contains), "\(cues), \(note)")
    }
}
