import Foldback
import TestSupport
import Testing

/// Question: is a caller that waits for room in a full queue lost, reordered, or answered twice
/// (L3)?
///
/// `record` waits for its outcome from the start, but not while it waits for room: then its request
/// is made again. An earlier test could not tell the callers' order, because the pool chose it.
@Suite struct FullQueueTests {
    private typealias Outcome = Result<IntentNumber, CommandError>

    /// How a caller records.
    enum Door: CaseIterable {
        case record, enqueue
    }

    /// A store with a full queue. Its writer is held in a transaction of one intent.
    private struct FullStore {
        let storage = TestStorage()
        let store: any BoardStore
        let callers = StepExecutor()
        /// The number of intents that are queued, or being written.
        let queuedCount = Limits.queueCountMax + 1

        init(_ keeper: BoardKeeper) async throws {
            store = try await keeper.store(over: storage)
            storage.holdWrites()
            _ = try await store.enqueue(.set("a", 0))
            await storage.waitUntilHeld()
            for value in 1...Limits.queueCountMax { _ = try await store.enqueue(.set("a", value)) }
        }

        /// Starts a caller for each number, in their order. Each waits for room on return.
        func start(_ numbers: Range<Int>, _ door: Door) async -> [SteppedTask<Outcome>] {
            var tasks: [SteppedTask<Outcome>] = []
            for number in numbers { tasks.append(await start(number, door)) }
            #expect(tasks.allSatisfy { $0.valueNow == nil })
            return tasks
        }

        private func start(_ number: Int, _ door: Door) async -> SteppedTask<Outcome> {
            await callers.start { [store] in
                do throws(CommandError) {
                    switch door {
                    case .record: return .success(try await store.record(.set("b", number)).number)
                    case .enqueue:
                        let queued = try await store.enqueue(.set("b", number))
                        return .success(try await queued.receipt().number)
                    }
                } catch {
                    return .failure(error)
                }
            }
        }

        /// The numbers of the callers whose intents are in the log, in its order.
        func recorded() -> [Int] {
            store.overlay.compactMap {
                guard case .set("b", let number) = $0.event else { return nil }
                return number
            }
        }

        /// Checks that the callers got these intents, in their order, and that the log has nothing
        /// else.
        func expect(_ outcomes: [(number: Int, Outcome)], recorded: [Int]) {
            let receipts = outcomes.compactMap { number, outcome in
                (try? outcome.get()).map { (number, $0) }
            }
            #expect(receipts.map(\.0) == recorded && self.recorded() == recorded)
            let first = UInt64(queuedCount + 1)
            #expect(receipts.map(\.1) == recorded.indices.map { IntentNumber(first + UInt64($0)) })
            #expect(store.overlay.count == queuedCount + recorded.count)
        }
    }

    @Test(arguments: BoardKeeper.allCases, Door.allCases)
    func `L3: callers that wait for room record once, in the order in which they came`(
        keeper: BoardKeeper, door: Door
    ) async throws {
        let full = try await FullStore(keeper)
        let tasks = await full.start(0..<20, door)
        full.storage.releaseWrites()
        var outcomes: [(Int, Outcome)] = []
        for (number, task) in tasks.enumerated() {
            outcomes.append((number, await full.callers.value(of: task)))
        }
        full.expect(outcomes, recorded: Array(0..<20))
        #expect(try await full.store.verify().findings == [])
        await full.store.close()
    }

    @Test(arguments: BoardKeeper.allCases, Door.allCases)
    func
        `L3: a canceled caller that waits for room records nothing, and the others keep their order`(
            keeper: BoardKeeper, door: Door
        ) async throws
    {
        let full = try await FullStore(keeper)
        let tasks = await full.start(0..<12, door)
        let canceled = [0, 4, 5, 11]
        for number in canceled { tasks[number].cancel() }
        // They end although the writer is held.
        for number in canceled {
            guard case .failure(.log(.cancelled)) = await full.callers.value(of: tasks[number])
            else {
                Issue.record("caller \(number) was not canceled")
                continue
            }
        }
        let left = tasks.indices.filter { !canceled.contains($0) }
        #expect(left.allSatisfy { tasks[$0].valueNow == nil })
        full.storage.releaseWrites()
        var outcomes: [(Int, Outcome)] = []
        for number in left {
            outcomes.append((number, await full.callers.value(of: tasks[number])))
        }
        full.expect(outcomes, recorded: left)
        await full.store.close()
    }

    @Test(arguments: BoardKeeper.allCases, Door.allCases)
    func `L3: close turns away the callers that wait for room, and carries out the queue`(
        keeper: BoardKeeper, door: Door
    ) async throws {
        let full = try await FullStore(keeper)
        let tasks = await full.start(0..<12, door)
        let closing = await full.callers.start { [store = full.store] in await store.close() }
        // They end although the writer is held.
        for task in tasks {
            guard case .failure(.log(.closed)) = await full.callers.value(of: task) else {
                Issue.record("\(String(describing: task.valueNow))")
                continue
            }
        }
        #expect(closing.valueNow == nil)
        full.storage.releaseWrites()
        await full.callers.value(of: closing)
        full.expect([], recorded: [])
        let late = await error { () throws(CommandError) in
            try await full.store.record(.set("z", 1))
        }
        #expect(late?.isClosed == true)
    }

    /// The property: whatever is canceled while the writer works, and whenever the store closes, the
    /// log has exactly the intents whose callers got a receipt, in the order of the callers.
    @Test(arguments: BoardKeeper.allCases, Door.allCases)
    func `L3: a caller of a full queue is recorded, canceled or turned away, never two of them`(
        keeper: BoardKeeper, door: Door
    ) async throws {
        let seed = testSeed("FullQueueTests", variable: "FOLDBACK_FULL_QUEUE_SEED")
        for round in 0..<TestEffort.value(quick: 2, full: 60) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let full = try await FullStore(keeper)
            let tasks = await full.start(0..<16, door)
            full.storage.releaseWrites()
            for task in tasks where random.oneIn(3) {
                task.cancel()
                if random.oneIn(2) { await full.callers.runReady() }
            }
            let closing = await full.callers.start { [store = full.store] in await store.close() }
            var outcomes: [(Int, Outcome)] = []
            for (number, task) in tasks.enumerated() {
                let outcome = await full.callers.value(of: task)
                switch outcome {
                case .success, .failure(.log(.cancelled)), .failure(.log(.closed)): break
                case .failure(let error): Issue.record("seed \(seed), round \(round): \(error)")
                }
                outcomes.append((number, outcome))
            }
            await full.callers.value(of: closing)
            full.expect(outcomes, recorded: full.recorded().sorted())
        }
    }
}
