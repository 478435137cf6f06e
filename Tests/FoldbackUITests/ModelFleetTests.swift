import Foldback
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FoldbackTesting
@testable import FoldbackUI

/// Born from the question whether a model that follows a store through crashes, lost answers and
/// new logs ever shows what the log does not have.
///
/// Property (U25, U32): at random moments of a fleet and at its end, the model of each replica has
/// the view, the statuses, the rejections and the list that a naive reader computes from its log.
@MainActor @Suite struct ModelFleetTests {
    private static let texts = Generator<String>.element(of: ["a1", "a2", "b1"])
    private static let ids = Generator<String>.element(of: ["replica0.1.0", "replica1.2.0"])
    private static let events = Generator<Pad.Event>.oneOf(
        .making(Pad.Event.posted, texts), .making(Pad.Event.posted, texts),
        .making(Pad.Event.edited, ids, texts), .making(Pad.Event.removed, ids))

    @Test func `U25: the models of a fleet show what the logs have, through all faults`()
        async throws
    {
        let first = testSeed("fleets with models", variable: "MODEL_FLEET_SEED")
        for seed in first..<first + TestEffort.value(quick: 6, full: 20) {
            var choices = Choices(seed: seed)
            let scripts = Self.events.fleets(members: Int(1 + seed % 3), stepsMax: 60)
            let fleet = Fleet<Pad>(try scripts.generate(from: &choices), isTracing: false) { $0 }
            let screens = FleetScreens(fleet, seed)
            await fleet.run()
            await screens.check()
            await fleet.check()
            #expect(fleet.shared.notes.content.violation == nil, "seed \(seed)")
            #expect(screens.checkCount > 0, "seed \(seed)")
        }
    }
}

/// A model for each running replica of a fleet.
@MainActor private final class FleetScreens {
    private struct Screen {
        let store: Store<Pad>
        let model: OptimisticModel<Pad>
        let list: ListModel<String, Note>
    }

    private let fleet: Fleet<Pad>
    private let seed: UInt64
    private var screens: [Int: Screen] = [:]
    private(set) var checkCount = 0

    /// Begins to follow the fleet. Its thread waits during each check, so that no log changes.
    init(_ fleet: Fleet<Pad>, _ seed: UInt64) {
        self.fleet = fleet
        self.seed = seed
        let random = Mutex(SeededGenerator(seed: seed))
        fleet.shared.time.onJob { [weak self] _ in
            guard random.withLock({ $0.oneIn(200) }) else { return }
            let done = DispatchSemaphore(value: 0)
            Task { @MainActor in
                await self?.check()
                done.signal()
            }
            done.wait()
        }
    }

    /// Compares each running replica's model with its log.
    func check() async {
        for (index, replica) in fleet.replicas.enumerated() {
            guard let store = replica.store else { continue }
            if screens[index]?.store !== store {
                let model = OptimisticModel(store, sources: Frames().sources)
                screens[index] = Screen(store: store, model: model, list: noteList(model))
            }
            if let screen = screens[index] { await check(screen) }
        }
    }

    private func check(_ screen: Screen) async {
        let (store, model, note) = (screen.store, screen.model, Comment("seed \(seed)"))
        _ = await model.adoptedView()
        do {
            #expect(model.revision == store.status.sequence, note)
            #expect(model.view == store.view, note)
            #expect(model.confirmed == store.confirmed, note)
            #expect(model.rejections.map(\.number) == store.rejections, note)
            let statuses = try store.naiveStatuses()
            for id in Set(statuses.keys).union(model.view.notes.keys) {
                #expect(model.status(of: id) == statuses[id] ?? .settled, note)
            }
            #expect(text(screen.list.snapshot) == (try store.naiveList()), note)
            checkCount += 1
        } catch {
            Issue.record("\(error), \(note)")
        }
    }
}
