import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from a rejection that nobody announced, because its wait was no longer shown.
///
/// Property (U15): whatever happens to waits, each rejection of a person's intent is announced once.
/// After the last answer, no wait goes on, and each task has ended.
@MainActor @Suite struct WaitPropertyTests {
    @Test func `U15: each rejection is announced once, whatever happens to its waits`()
        async throws
    {
        let first = testSeed("waits", variable: "WAITS_SEED")
        for seed in first..<first + TestEffort.value(quick: 30, full: 200) {
            let play = WaitPlay(seed)
            for _ in 0..<25 { try await play.step() }
            let found = try await play.end()
            #expect(found.announced == found.rejected, "seed \(seed): \(play.story)")
            #expect(found.running == 0, "seed \(seed): \(play.story)")
        }
    }
}

/// One person, two waits at a time, and a server that answers by hand.
@MainActor private final class WaitPlay {
    private(set) var story: [String] = []
    private var random: SeededGenerator
    private let store = Store.board()
    private let model: OptimisticModel<Board>
    private let screens: [ProgressModel]
    private let cues: Cues
    private var tasks: [Task<Void, Never>] = []

    init(_ seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let cues = Cues(sources: clock.sources)
        self.cues = cues
        model = OptimisticModel(store, cues: cues, sources: Frames().sources)
        screens = (0..<2).map { _ in ProgressModel(cues: cues, sources: clock.sources) }
    }

    func step() async throws {
        let number = Int.random(in: 0..<2, using: &random)
        let screen = screens[number]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: start(on: screen, number)
        case 4:
            tell("continue \(number)")
            screen.handle(.continuedInBackground)
        case 5:
            tell("finish \(number)")
            screen.finish()
        case 6:
            tell("restart \(number)")
            tasks.append(Task { await screen.perform(.restart) })
        case 7:
            tell("cancel a task")
            tasks.randomElement(using: &random)?.cancel()
        default: try await answer()
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) * 10 { await Task.yield() }
    }

    private func tell(_ line: String) { story.append(line) }

    private func start(on screen: ProgressModel, _ number: Int) {
        let key = ["a", "b", "c"].randomElement(using: &random)
        let once = random.oneIn(2) ? key : nil
        tell("wait \(number) for \(key ?? "")\(once == nil ? "" : " once")")
        let wait = Wait("boosting", isDurable: random.oneIn(2))
        tasks.append(
            Task { [model] in
                _ = try? await model.perform(
                    confirmOnly: .set(key ?? "", 1), showing: wait, in: screen, once: once)
            })
    }

    private func answer() async throws {
        guard let number = store.overlay.map(\.number).randomElement(using: &random) else { return }
        if random.oneIn(3) {
            tell("confirm \(number)")
            try await store.acknowledge(number)
        } else {
            tell("reject \(number)")
            try await store.reject(number, message: "no \(number)")
        }
    }

    /// Answers everything, and returns the reasons that were announced and those of the log.
    func end() async throws -> (announced: [String], rejected: [String], running: Int) {
        for task in tasks {
            var isDone = false
            Task {
                await task.value
                isDone = true
            }
            while !isDone {
                for intent in store.overlay.map(\.number) { try await store.acknowledge(intent) }
                await Task.yield()
            }
        }
        await until { [model, store] in model.revision == store.status.sequence }
        cues.finish()
        var announced: [String] = []
        for await case .announce(.ended(_, .failed(let recovery)), .assertive) in cues {
            announced.append(recovery.reason ?? "")
        }
        let rejected = try (1..<store.status.nextIntent.value)
            .compactMap { try store.intent(IntentNumber($0)).rejection?.message }
        let running = screens.count { screen in
            switch screen.appearance?.phase {
            case nil, .ended: false
            case .instant, .busy, .waiting, .long, .stalled: true
            }
        }
        return (announced.sorted(), rejected.sorted(), running)
    }
}
