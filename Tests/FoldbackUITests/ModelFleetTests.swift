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
/// Property (U25, U32): at random moments of a fleet and at its end, the models of each replica have
/// the view, the statuses, the rejections and the list that a naive reader computes from its log.
/// Revisions only rise. Some models adopt everything at once, others at random frames only.
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
            let fleet = Fleet<NotedPad>(try scripts.generate(from: &choices), isTracing: false) {
                $0
            }
            let screens = FleetScreens(fleet, seed)
            await fleet.run()
            await screens.check()
            await fleet.check()
            #expect(fleet.shared.notes.content.violation == nil, "seed \(seed)")
            #expect(screens.checkCount > 0, "seed \(seed)")
            screens.frames.begin()
        }
    }
}

/// A pad as a value and as rows, on one log.
private typealias NotedPad = Sharing<Pad, PadRows>

/// Models for each running replica of a fleet.
@MainActor private final class FleetScreens {
    @MainActor private struct Screen {
        let store: Store<NotedPad>
        let model: OptimisticModel<NotedPad>
        let list: ListModel<String, Note>
        let rows: RowsModel<PadRows>
        let rowList: ListModel<String, Note>
        let revisions: PastValues<LogSequence>
        /// Whether the models adopt only by themselves.
        let waitsForFrames: Bool

        init(_ store: Store<NotedPad>, _ frames: Frames, waitsForFrames: Bool) {
            self.store = store
            self.waitsForFrames = waitsForFrames
            let model = OptimisticModel(store, sources: frames.sources)
            self.model = model
            list = noteList(model, of: \.state)
            rows = RowsModel(store, showing: PadRows.self, sources: frames.sources)
            rowList = noteList(rows)
            revisions = PastValues(of: { model.revision })
        }
    }

    private let fleet: Fleet<NotedPad>
    private let seed: UInt64
    private var screens: [Int: Screen] = [:]
    private(set) var checkCount = 0
    let frames: Frames

    /// Begins to follow the fleet. Its thread waits during each check, so that no log changes.
    init(_ fleet: Fleet<NotedPad>, _ seed: UInt64) {
        self.fleet = fleet
        self.seed = seed
        frames = Frames(held: seed % 2 == 0)
        let random = Mutex(SeededGenerator(seed: seed))
        fleet.shared.time.onJob { [weak self, frames] _ in
            if random.withLock({ $0.oneIn(20) }) { frames.begin() }
            guard random.withLock({ $0.oneIn(200) }) else { return }
            let done = DispatchSemaphore(value: 0)
            Task { @MainActor in
                await self?.check()
                done.signal()
            }
            done.wait()
        }
    }

    /// Compares each running replica's models with its log.
    func check() async {
        for (index, replica) in fleet.replicas.enumerated() {
            guard let store = replica.store else { continue }
            if screens[index]?.store !== store {
                let waits = (seed / 2 + UInt64(index)) % 2 == 0
                screens[index] = Screen(store, frames, waitsForFrames: waits)
            }
            if let screen = screens[index] { await check(screen) }
        }
    }

    private func check(_ screen: Screen) async {
        let note: Comment = "seed \(seed)"
        do {
            let store = screen.store
            let snapshot = store.snapshot
            let intents = try store.naiveIntents(of: SeenIntents(snapshot))
            let statuses = NotedPad.naiveStatuses(of: intents)
            let list = snapshot.view.state.naiveList(intents)
            // Each of the two has its own words for the reason of a conflict.
            let ofRows = try store.projected(PadRows.self).read { SeenIntents($0) }
            let rowStatuses = try store.naiveStatuses(of: ofRows)
            await catchUp(screen, statuses, rowStatuses, list)
            let model = screen.model
            #expect(model.view == snapshot.view, note)
            #expect(model.confirmed == snapshot.confirmed, note)
            let sequences = [model.revision, screen.rows.revision]
            #expect(sequences == [snapshot.sequence, snapshot.sequence], note)
            let rejections = [model.rejections, screen.rows.rejections]
            #expect(
                rejections.map { $0.map(\.number) } == [snapshot.rejections, snapshot.rejections],
                note)
            for id in Set(statuses.keys).union(snapshot.view.state.notes.keys) {
                #expect(model.status(of: id) == statuses[id] ?? .settled, note)
                #expect(screen.rows.status(of: id) == rowStatuses[id] ?? .settled, note)
            }
            #expect(text(screen.list.snapshot) == list, note)
            #expect(text(screen.rowList.snapshot) == list, note)
            let past = screen.revisions.values + [model.revision]
            #expect(zip(past, past.dropFirst()).allSatisfy { $0 < $1 }, note)
            checkCount += 1
        } catch {
            Issue.record("\(error), \(note)")
        }
    }

    /// Lets the models adopt everything.
    private func catchUp(
        _ screen: Screen, _ statuses: [String: ItemStatus],
        _ rowStatuses: [String: ItemStatus], _ list: [String]
    ) async {
        guard screen.waitsForFrames else {
            _ = await screen.model.adoptedView()
            await screen.rows.readUpdate()
            screen.rows.showUpdate()
            return
        }
        await untilSoon {
            frames.begin()
            return screen.model.revision == screen.store.status.sequence
                && screen.rows.revision == screen.model.revision
                && statuses.allSatisfy { screen.model.status(of: $0.key) == $0.value }
                && rowStatuses.allSatisfy { screen.rows.status(of: $0.key) == $0.value }
                && text(screen.list.snapshot) == list && text(screen.rowList.snapshot) == list
        }
    }
}
