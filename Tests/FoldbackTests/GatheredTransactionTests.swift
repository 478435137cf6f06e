import Foldback
import Synchronization
import TestSupport
import Testing

/// Question: do requests that join a transaction while the writer decides have the same outcomes as
/// those that begin it (L3, L6)?
@Suite struct GatheredTransactionTests {
    private static func record(_ move: Move) throws -> Request {
        let payload = try MoveCodec().payload(of: move)
        let proposal = Proposal(payload: payload, isConfirmOnly: false, once: nil, info: [:])
        return Request(.command(.record(proposal), isForced: false), bytes: payload.bytes.count)
    }

    /// Lets the writer commit the first request, with the others joining one by one. Those that do
    /// not join go into the next transaction.
    private static func gather(_ requests: [Request], in store: any BoardStore) {
        let left = Mutex(requests[...])
        func next() -> [Request] { left.withLock { $0.popFirst().map { [$0] } ?? [] } }
        while case let first = next(), !first.isEmpty {
            store.core.writer.commit(first) { _ in next() }
        }
    }

    private static func outcomes(of requests: [Request]) async -> [CommandError?] {
        var errors: [CommandError?] = []
        for request in requests {
            errors.append(await error { () throws(CommandError) in try await request.outcome() })
        }
        return errors
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L3: requests that join are in the same transaction, in their order`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        let requests = try (1...5).map { try Self.record(.set("a", $0)) }
        Self.gather(requests, in: store)
        #expect(await Self.outcomes(of: requests).allSatisfy { $0 == nil })
        #expect(storage.writeSizes == [5])
        #expect(store.overlay.map(\.event) == (1...5).map { .set("a", $0) })
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    /// The second answer was judged by the lineage of the first, which was then taken back.
    @Test func `N6: an authority that only a rolled-back answer names supersedes nothing`()
        async throws
    {
        let storage = TestStorage()
        let store = try await BoardKeeper.memory.store(over: storage)
        let payload = try MoveCodec().payload(of: .set("a", 1))
        let proposal = Proposal(payload: payload, isConfirmOnly: false, once: nil, info: [:])
        storage.refuse { $0.payload.bytes == payload.bytes }
        let (first, second) = (Lineage("first")!, Lineage("second")!)
        let requests = [
            Request(.answer(.record(proposal), from: first), bytes: 1),
            Request(.noteLineage(second), bytes: 1),
        ]
        Self.gather(requests, in: store)
        let errors = await Self.outcomes(of: requests)
        #expect(errors[0] != nil && errors[1] == nil)
        #expect(store.core.published.lineage == second)
        #expect(store.core.published.syncObstacle == nil)
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases, [1, 3, 5])
    func `L6: a definite failure fails only its own request, whether it began or joined`(
        keeper: BoardKeeper, refused: Int
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        // The refused event can never be written. So the transaction fails, and after it only the
        // request with this event.
        let event = try MoveCodec().payload(of: .set("k\(refused)", refused)).bytes
        storage.refuse { $0.payload.bytes == event }
        let requests = try (1...5).map { try Self.record(.set("k\($0)", $0)) }
        Self.gather(requests, in: store)
        let errors = await Self.outcomes(of: requests)
        #expect(errors.map { $0 == nil } == (1...5).map { $0 != refused })
        #expect(storage.writeSizes == [1, 1, 1, 1])
        #expect(
            store.overlay.map(\.event)
                == (1...5).filter { $0 != refused }.map { .set("k\($0)", $0) })
        #expect(store.overlay.map(\.number) == [1, 2, 3, 4])
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `L6: a damaged row fails only the request that joined with it`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        try storage.damage("a")
        let requests =
            try ["b", "a", "c"].map { try Self.record(.add($0, 2)) }
            + [Self.record(.set("d", 2))]
        Self.gather(requests, in: store)
        let errors = await Self.outcomes(of: requests)
        guard case .inapplicable = errors[0], case .log(.damaged) = errors[1],
            case .inapplicable = errors[2], errors[3] == nil
        else {
            Issue.record("\(errors)")
            return
        }
        #expect(store.overlay.map(\.event) == [.set("d", 2)])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: an unknown outcome is unknown for every request, and latches the store`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.failWrites(leavingOutcomeUnknown: true)
        let requests = try (1...3).map { try Self.record(.set("a", $0)) }
        Self.gather(requests, in: store)
        for (index, error) in await Self.outcomes(of: requests).enumerated() {
            guard case .log(.outcomeUnknown(IntentNumber(UInt64(index + 1)), _)) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let late = [try Self.record(.set("a", 4)), try Self.record(.set("a", 5))]
        Self.gather(late, in: store)
        guard case .log(.latched) = await Self.outcomes(of: [late[0]])[0] else {
            Issue.record("the store is not latched")
            return
        }
        #expect(store.overlay.isEmpty && store.status.sequence == 0)
        await store.close()
    }

    // MARK: Faults of the disk

    @Test(arguments: BoardKeeper.allCases, [false, true])
    func `L6: a full disk is an unknown outcome for every request, and free space ends it`(
        keeper: BoardKeeper, isWritten: Bool
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.failWrites(
            leavingOutcomeUnknown: true, writingAnyway: isWritten, .diskFull(freeBytes: 0))
        let requests = try (1...3).map { try Self.record(.set("a", $0)) }
        Self.gather(requests, in: store)
        for (index, error) in await Self.outcomes(of: requests).enumerated() {
            guard case .log(.outcomeUnknown(IntentNumber(UInt64(index + 1)), let failure)) = error,
                case .diskFull = failure.reason
            else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(store.overlay.isEmpty)
        await store.close()
        let reopened = try Store.inMemory(
            RowBoard.self, reopening: storage.log.rows, sources: .counting())
        #expect(reopened.overlay.count == (isWritten ? 3 : 0))
        let receipt = try await reopened.record(.set("a", 4))
        #expect(receipt.number == (isWritten ? 4 : 1))
        #expect(try await reopened.verify().findings == [])
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: a failed flush fails only the joined request that asks for it`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.failSyncs()
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 1))
        let requests = [
            try Self.record(.set("a", 1)),
            Request(.recordAttempts([1: attempt], flushes: true), bytes: 8),
            try Self.record(.set("a", 2)), Request(.sync, bytes: 0),
            Request(.recordAttempts([2: attempt], flushes: false), bytes: 8),
        ]
        Self.gather(requests, in: store)
        let errors = await Self.outcomes(of: requests)
        for (index, error) in errors.enumerated() {
            switch (index, error) {
            case (0, nil), (2, nil), (4, nil), (1, .log(.outcomeUnknown(nil, _))),
                (3, .log(.outcomeUnknown(nil, _))):
                break
            default: Issue.record("request \(index): \(String(describing: error))")
            }
        }
        #expect(storage.writeSizes == [2] && storage.syncCount == 1)
        #expect(store.overlay.map(\.event) == [.set("a", 1), .set("a", 2)])
        let late = [try Self.record(.set("a", 3))]
        Self.gather(late, in: store)
        guard case .log(.latched) = await Self.outcomes(of: late)[0] else {
            Issue.record("the store is not latched")
            return
        }
        await store.close()
    }

    /// The property: with requests that fail definitely among them, requests that are gathered have
    /// the same outcomes, and leave the same board, as requests that come one by one.
    @Test(arguments: BoardKeeper.allCases)
    func `L6: a gathered request has the outcome that it has alone`(
        keeper: BoardKeeper
    ) async throws {
        let seed = testSeed("GatheredTransactionTests", variable: "FOLDBACK_GATHER_SEED")
        for round in 0..<TestEffort.value(quick: 20, full: 500) {
            var results: [[String]] = []
            for isGathered in [true, false] {
                let storage = TestStorage()
                let store = try await keeper.store(over: storage)
                storage.refuse { $0.payload.text.contains("bad") }
                var random = SeededGenerator(seed: seed &+ UInt64(round))
                let requests = try (0..<12).map { _ in try Self.random(&random) }
                if isGathered {
                    Self.gather(requests, in: store)
                } else {
                    for request in requests { store.core.writer.commit([request]) }
                }
                var report: [String] = []
                for request in requests {
                    do throws(CommandError) {
                        report.append("\(try await request.outcome())")
                    } catch { report.append("\(error)") }
                }
                let seen = try store.seen()
                report.append("\(seen.view.cells.sorted { $0.key < $1.key }) \(seen.pending)")
                results.append(report)
                #expect(try await store.verify().findings == [])
                await store.close()
            }
            #expect(results[0] == results[1], "seed \(seed), round \(round)")
        }
    }

    /// An intent, perhaps an intent that cannot be written, or answers.
    private static func random(_ random: inout SeededGenerator) throws -> Request {
        func number() -> IntentNumber { IntentNumber(UInt64.random(in: 1...4, using: &random)) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: return try record(.add("a", 1))
        case 3: return try record(.set("a", 1))
        case 4: return try record(.set("bad", 1))
        case 5: return Request(.sync, bytes: 0)
        case 6:
            let rejection = Command.reject(number(), Rejection(message: "no"))
            return Request(.answer(rejection, from: nil), bytes: 0)
        default:
            let answers = (0..<3).map { _ in
                Command.acknowledge(number(), position: nil, replacement: nil)
            }
            return Request(.answers(answers, from: nil), bytes: 0)
        }
    }

    /// The property: however callers come back, each gets its own receipt, and the log has all.
    @Test(arguments: BoardKeeper.allCases)
    func `L3: callers that record again and again each get their own receipt`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        let numbers = try await withThrowingTaskGroup(of: [IntentNumber].self) { group in
            for task in 0..<32 {
                group.addTask {
                    var numbers: [IntentNumber] = []
                    for round in 0..<16 {
                        let receipt = try await store.record(.set("k\(task)", round))
                        numbers.append(receipt.number)
                    }
                    return numbers
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers.allSatisfy { $0 == $0.sorted() })
        #expect(Set(numbers.joined()).count == 512 && store.overlay.count == 512)
        #expect(storage.writeSizes.reduce(0, +) == 512)
        #expect(try await store.verify().findings == [])
        await store.close()
    }
}
