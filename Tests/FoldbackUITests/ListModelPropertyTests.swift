import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether lists that skip commits, at random frames, ever show rows of
/// another moment than the view, or lose refused work.
///
/// Properties (U21, U25, U32): at each moment, the rows that are not ghosts are those of the model's
/// view, and the list with its statuses and ghosts is the list that a naive reader computes from the
/// log at the model's revision. All differences in their order lead from the first list to the
/// present list. After each burst of random commands, the revision is the log's last entry.
@MainActor @Suite struct ListModelPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U32: a list shows the view and what it lacks, after any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("list model, \(kind)", variable: "LIST_MODEL_SEED")
        for seed in first..<first + TestEffort.value(quick: 7, full: 18) {
            let play = ListPlay(seed, kind)
            try await play.run()
        }
    }
}

/// One random history.
@MainActor private final class ListPlay {
    private let seed: UInt64
    private let kind: LogKind
    private let store: Store<Pad>
    private let frames: Frames
    private let model: OptimisticModel<Pad>
    private let list: ListModel<String, Note>
    private var story: [String] = []
    private var follower: ListFollower?
    /// The lists that were shown, by revision.
    private var shown: [LogSequence: Set<[String]>] = [:]

    init(_ seed: UInt64, _ kind: LogKind) {
        (self.seed, self.kind) = (seed, kind)
        var random = SeededGenerator(seed: seed)
        store = Store.pad(kind)
        frames = Frames(held: random.oneIn(2))
        model = OptimisticModel(store, sources: frames.sources)
        list = noteList(model)
        follower = ListFollower(list) { [unowned self] problem in
            #expect(problem == nil, note)
        } changed: { [weak self] in
            self?.checkView()
        }
    }

    private var note: Comment { "seed \(seed): \(story)" }

    func run() async throws {
        var random = SeededGenerator(seed: ~seed)
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                story.append(try await store.act(&random))
                if random.oneIn(3) { frames.begin() }
                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                checkView()
            }
            if random.oneIn(3) {
                _ = try? await model.perform(.posted("b\(seed % 7)"))
                story.append("perform")
            } else {
                await settle()
            }
            checkView()
            try checkLast()
        }
        try await checkPast()
    }

    /// Waits until the model has everything, also attempts, which change no sequence.
    private func settle() async {
        await untilSoon {
            frames.begin()
            return model.revision == store.status.sequence
                && (try? store.naiveList()) == text(list.snapshot)
        }
    }

    /// The list is of the same moment as the view.
    private func checkView() {
        shown[model.revision, default: []].insert(text(list.snapshot))
        for section in list.snapshot.sections {
            let rows = section.rows.filter { !$0.isGhost }
            #expect(rows.compactMap(\.content) == model.view.notes(in: section.id), note)
        }
    }

    /// Compares all lists that were shown with the log's past at the revision of that moment.
    private func checkPast() async throws {
        let log = try NaiveLog(store, kind)
        for (revision, lists) in shown where revision > 0 {
            let past = try await store.snapshot(at: revision)
            let list = past.view.naiveList(log.intents(of: SeenIntents(past)))
            #expect(lists == [list], "at \(revision), \(note)")
        }
    }

    private func checkLast() throws {
        try #require(model.revision == store.status.sequence, note)
        try #require(text(list.snapshot) == (try store.naiveList()), note)
        follower?.catchUp()
        try #require(follower?.snapshot == list.snapshot, note)
        try #require(list.failure == nil, note)
    }
}

extension Store where P == Pad {
    /// Performs a random command that the log may refuse, and returns its name.
    fileprivate nonisolated(nonsending) func act(
        _ random: inout SeededGenerator
    ) async throws -> String {
        let last = Int(status.sequence.value)
        let number = IntentNumber(UInt64(Int.random(in: 1...max(1, last), using: &random)))
        let id = "me.\(number).0"
        let text = (random.oneIn(2) ? "a" : "b") + "\(last)"
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3:
            let isConfirmOnly = random.oneIn(3)
            _ = try await record(.posted(text), confirmOnly: isConfirmOnly)
            return "post \(text)\(isConfirmOnly ? " confirm-only" : "")"
        case 3..<5:
            _ = try await record(.edited(id, text), force: true)
            return "edit \(id) \(text)"
        case 5:
            try await record(.removed(id))
            return "remove \(id)"
        case 6:
            let isReworded = random.oneIn(2)
            _ = try? await acknowledge(number, replacement: isReworded ? .posted(text) : nil)
            return "acknowledge \(number)\(isReworded ? " with \(text)" : "")"
        case 7...8:
            _ = try? await reject(number, message: "no \(number)")
            return "reject \(number)"
        case 9:
            _ = try? await withdraw(number)
            return "withdraw \(number)"
        case 10:
            let isRetry = random.oneIn(2)
            if isRetry {
                _ = try? await retry(number, force: true)
            } else {
                _ = try? await dismiss(number)
            }
            return "\(isRetry ? "retry" : "dismiss") \(number)"
        default:
            let origin = IntentID(replica: status.replica, number: number)
            _ = try? await confirm([
                ConfirmedEvent(
                    position: Position(status.through.value + 1), event: .removed(id),
                    origin: random.oneIn(2) ? origin : nil)
            ])
            return "confirm remove \(id)"
        }
    }
}
