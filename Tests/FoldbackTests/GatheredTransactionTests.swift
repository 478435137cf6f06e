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

    private static func outcomes(of requests: [Request]) async -> [FoldbackError?] {
        var errors: [FoldbackError?] = []
        for request in requests {
            errors.append(await error { () throws(FoldbackError) in try await request.outcome() })
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
        guard case .inapplicable = errors[0], case .damaged = errors[1],
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
            guard case .outcomeUnknown(IntentNumber(UInt64(index + 1)), _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let late = [try Self.record(.set("a", 4)), try Self.record(.set("a", 5))]
        Self.gather(late, in: store)
        guard case .latched = await Self.outcomes(of: [late[0]])[0] else {
            Issue.record("the store is not latched")
            return
        }
        #expect(store.overlay.isEmpty && store.status.sequence == 0)
        await store.close()
    }

    // MARK: The queue

    private static let closed = "(closed)"

    /// The writer expects more callers than come.
    private static func expecting(_ count: Int) -> ReturningCallers {
        var returning = ReturningCallers()
        returning.expect(count, at: 0)
        returning.begin(with: 0, at: 1)
        return returning
    }

    @Test func `L3: queued requests join only while a caller is expected`() throws {
        let queue = RequestQueue(path: Self.closed)
        let requests = try (1...3).map { try Self.record(.set("a", $0)) }
        for request in requests { _ = queue.offer(request) }
        var nobody = ReturningCallers()
        let none = queue.joining(in: TransactionRoom(), &nobody)
        var returning = Self.expecting(1)
        let all = queue.joining(in: TransactionRoom(), &returning)
        let late = queue.joining(in: TransactionRoom(), &returning)
        #expect(none.isEmpty && all.count == 3 && late.isEmpty)
        #expect(returning.missing == 0)
    }

    @Test func `L3: requests that join never exceed the room of the transaction`() throws {
        let queue = RequestQueue(path: Self.closed)
        let payload = try MoveCodec().payload(of: .set("a", 1))
        let work = Request.Work.command(
            .record(Proposal(payload: payload, isConfirmOnly: false, once: nil, info: [:])),
            isForced: false)
        let large = Request(work, bytes: Limits.commitBytesMax - 1)
        var room = TransactionRoom()
        room.add(large)
        for _ in 1...2 { _ = queue.offer(Request(work, bytes: 1)) }
        var returning = Self.expecting(9)
        let joined = queue.joining(in: room, &returning)
        #expect(joined.count == 1)
        room.add(joined[0])
        let further = queue.joining(in: room, &returning)
        #expect(room.isFull && further.isEmpty)
        // It fits into the next transaction.
        #expect(queue.next()?.count == 1)
    }

    @Test func `L3: a closed queue ends the wait for callers`() {
        let queue = RequestQueue(path: Self.closed)
        queue.close()
        var returning = Self.expecting(1)
        let requests = queue.joining(in: TransactionRoom(), &returning)
        #expect(requests.isEmpty && returning.missing == 1)
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
