import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a model that skips commits, at random frames, ever shows what the
/// log does not have.
///
/// Properties, for random commands of the store and of the model, at random frames:
/// - U24: when a command of the model returns, the model has everything that the log has.
/// - U4, U25: revisions only rise. At each moment, view, confirmed state, rejections and statuses
///   of all items equal those that a naive reader computes from the log at the model's revision.
/// - U26: the model adopts at most once for each frame, for each command, and at the start.
@MainActor @Suite struct ModelPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U4, U24, U25, U26: a model shows what the log has at its revision, after any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("model, \(kind)", variable: "MODEL_SEED")
        for seed in first..<first + TestEffort.value(quick: 7, full: 25) {
            try await ModelPlay(seed, kind).run()
        }
    }
}

/// One random history.
@MainActor private final class ModelPlay {
    /// What the model showed at one moment.
    private struct Shown {
        let revision: LogSequence
        let view: Board
        let confirmed: Board
        let rejections: [IntentMark]
        let statuses: [String: ItemStatus]
    }

    private static let keys = ["a", "b", "c", "d"]

    private let seed: UInt64
    private let kind: LogKind
    private let store: Store<Board>
    private let frames: Frames
    private var story: [String] = []
    private var shown: [Shown] = []

    init(_ seed: UInt64, _ kind: LogKind) {
        (self.seed, self.kind) = (seed, kind)
        store = Store.board(kind)
        frames = Frames(held: seed % 2 == 0)
    }

    private var note: Comment { "seed \(seed), \(kind): \(story)" }

    func run() async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            try await store.act(on: Self.keys, &random)
        }
        let model = OptimisticModel(store, sources: frames.sources)
        // Statuses follow the view a moment later.
        await settle(model)
        let begun = frames.begunCount
        let revisions = PastValues {
            model.revision
        } changed: { [unowned self] in
            keep(model)
        }
        var commands = 0
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                story.append(try await store.act(on: Self.keys, &random))
                if random.oneIn(3) { frames.begin() }
                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                keep(model)
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: await settle(model)
            default:
                commands += 1
                guard await act(model, &random) else { continue }
            }
            try check(model)
        }
        checkRevisions(revisions.values + [model.revision])
        #expect(revisions.values.count <= frames.begunCount - begun + commands + 1, note)
        try await checkPast()
    }

    /// Lets the model carry out a random command, and returns whether the log took it.
    private func act(
        _ model: OptimisticModel<Board>, _ random: inout SeededGenerator
    ) async -> Bool {
        let last = Int(store.status.sequence.value)
        let anyNumber = IntentNumber(UInt64(Int.random(in: 1...max(1, last), using: &random)))
        let rejected = model.rejections.randomElement(using: &random)?.number ?? anyNumber
        let pending = store.snapshot.pending.randomElement(using: &random) ?? anyNumber
        let key = Self.keys.randomElement(using: &random) ?? "a"
        do {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                story.append("model: set \(key)")
                try await model.perform(.set(key, last))
            case 1:
                story.append("model: add \(key) confirm-only")
                try await model.perform(.add(key, 1), confirmOnly: true)
            case 2:
                story.append("model: retry \(rejected)")
                try await model.retry(rejected)
            case 3:
                story.append("model: retry \(rejected) with set \(key)")
                try await model.retry(rejected, with: .set(key, last))
            case 4:
                story.append("model: dismiss \(rejected)")
                try await model.dismiss(rejected)
            default:
                story.append("model: withdraw \(pending)")
                try await model.withdraw(pending)
            }
            return true
        } catch {
            story.append("refused")
            return false
        }
    }

    /// Waits until the model has everything, also attempts, which change no sequence.
    private func settle(_ model: OptimisticModel<Board>) async {
        await untilSoon {
            frames.begin()
            return model.revision == store.status.sequence
                && statuses(model) == (try? store.naiveStatuses())
        }
    }

    private func statuses(_ model: OptimisticModel<Board>) -> [String: ItemStatus] {
        var statuses: [String: ItemStatus] = [:]
        for key in Self.keys {
            let status = model.status(of: key)
            if !status.marks.isEmpty { statuses[key] = status }
        }
        return statuses
    }

    private func keep(_ model: OptimisticModel<Board>) {
        shown.append(
            Shown(
                revision: model.revision, view: model.view, confirmed: model.confirmed,
                rejections: model.rejections, statuses: statuses(model)))
    }

    // MARK: Checks

    /// The model has everything.
    private func check(_ model: OptimisticModel<Board>) throws {
        keep(model)
        #expect(model.revision == store.status.sequence, note)
        #expect(model.view == store.view, note)
        #expect(model.confirmed == store.confirmed, note)
        #expect(model.rejections.map(\.number) == store.rejections, note)
        #expect(try statuses(model) == store.naiveStatuses(), note)
    }

    private func checkRevisions(_ revisions: [LogSequence]) {
        #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 < $1 }, note)
    }

    /// Compares all that was shown with the log's past at the revision of that moment.
    private func checkPast() async throws {
        let log = try NaiveLog(store, kind)
        for (revision, shown) in Dictionary(grouping: shown, by: \.revision) {
            let past = try await store.snapshot(at: revision)
            for shown in shown {
                let intents = log.intents(
                    of: SeenIntents(past), shown.statuses.values.attempts)
                let comment: Comment = "revision \(revision), \(note)"
                #expect(shown.view == past.view, comment)
                #expect(shown.confirmed == past.confirmed, comment)
                #expect(shown.statuses == Board.naiveStatuses(of: intents), comment)
                let rejected = intents.map(\.mark).filter { past.rejections.contains($0.number) }
                #expect(shown.rejections == rejected, comment)
            }
        }
    }
}
