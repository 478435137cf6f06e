import Foldback
import FoldbackLMDB
import Synchronization
import TestSupport
import Testing

/// Question: does the writer let callers join its transaction, and for how long does it wait for
/// them (L3)?
///
/// A test of the rule alone (ReturningCallersTests) did not notice that nothing called it. Here a
/// writer thread runs with a clock that only the test advances: as long as the clock stands, the
/// writer waits for a caller that it expects.
@Suite struct JoiningTests {
    private static let quiet = Limits.quietNanosecondsMax

    private static func work(_ value: Int) throws -> Request.Work {
        let payload = try MoveCodec().payload(of: .set("a", value))
        return .command(
            .record(Proposal(payload: payload, isConfirmOnly: false, once: nil, info: [:])),
            isForced: false)
    }

    // MARK: The writer's thread

    /// A writer with a thread, whose callers run when the test says so.
    private struct RunningWriter {
        let storage = TestStorage()
        let clock = ManualNanoseconds()
        let runner: CommandRunner
        private let callers = StepExecutor()

        init() throws {
            let writer = try LogWriter(
                LogFold(of: storage, ProjectionSet(Board.self)), attempts: Attempts(), on: storage,
                codec: AppCodec(codec: MoveCodec()), clock: LogSources.counting().now)
            runner = CommandRunner(storage, writer, hasThread: true, clock: clock.read)
            let runner = runner
            Platform.startThread { runner.run() }
        }

        /// Starts a caller, which is queued on return.
        func start(_ value: Int) async throws -> SteppedTask<CommandError?> {
            let work = try JoiningTests.work(value)
            return await callers.start { [runner] in
                await error { () throws(CommandError) in
                    try await runner.outcome(of: work, bytes: 10)
                }
            }
        }

        /// Starts a caller alone, and returns once the writer has begun its transaction.
        func begin(_ value: Int) async throws -> SteppedTask<CommandError?> {
            let readings = clock.readings
            let caller = try await start(value)
            await clock.waitUntilRead(readings + 1)
            return caller
        }

        func end(_ tasks: SteppedTask<CommandError?>...) async {
            for task in tasks { #expect(await callers.value(of: task) == nil) }
        }

        /// Lets the writer resume two callers at once, and expect both.
        func resumeTwo() async throws {
            storage.holdWrites()
            let first = try await runner.submit(try JoiningTests.work(0), bytes: 10)
            await storage.waitUntilHeld()
            let (a, b) = (try await start(1), try await start(2))
            storage.releaseWrites()
            _ = try await first.outcome()
            await end(a, b)
            #expect(storage.writeSizes == [1, 2])
            // One reading before and one after each transaction: the writer expects both callers.
            await clock.waitUntilRead(4)
        }

        func close() async { await runner.close() }
    }

    @Test func `L3: a caller that the writer has just resumed joins the transaction`() async throws
    {
        let writer = try RunningWriter()
        try await writer.resumeTwo()
        // The writer has taken the first caller alone. The clock stands, so it waits for the other.
        let first = try await writer.begin(3)
        let second = try await writer.start(4)
        await writer.end(first, second)
        #expect(writer.storage.writeSizes == [1, 2, 2])
        await writer.close()
    }

    @Test func `L3: an expected caller that does not come delays the commit by the quiet limit`()
        async throws
    {
        let writer = try RunningWriter()
        try await writer.resumeTwo()
        let first = try await writer.begin(3)
        for step in [0, Self.quiet] {
            writer.clock.advance(by: step)
            await writer.clock.waitUntilRead(writer.clock.readings + 3)
            #expect(writer.storage.writeSizes == [1, 2])
        }
        writer.clock.advance(by: 1)
        await writer.end(first)
        #expect(writer.storage.writeSizes == [1, 2, 1])
        await writer.close()
    }

    @Test func `L3: a caller that was resumed long ago is not expected`() async throws {
        let limit = Limits.returnNanosecondsMax
        let writer = try RunningWriter()
        try await writer.resumeTwo()
        writer.clock.advance(by: limit)
        let first = try await writer.begin(3)
        let second = try await writer.start(4)
        await writer.end(first, second)
        #expect(writer.storage.writeSizes == [1, 2, 2])
        await writer.close()
        let late = try RunningWriter()
        try await late.resumeTwo()
        late.clock.advance(by: limit + 1)
        // The clock stands, so this ends only if the writer does not wait.
        await late.end(try await late.start(3))
        #expect(late.storage.writeSizes == [1, 2, 1])
        await late.close()
    }

    // MARK: The queue

    /// A queue whose clock advances by a third of the quiet limit at each look.
    private static func queue() -> (RequestQueue, ManualNanoseconds) {
        let clock = ManualNanoseconds()
        clock.onReading { _ in quiet / 3 }
        return (RequestQueue(path: "(closed)", clock: clock.read), clock)
    }

    /// The writer expects more callers than come.
    private static func expecting(_ count: Int) -> ReturningCallers {
        var returning = ReturningCallers()
        returning.expect(count, at: 1_000_000)
        returning.begin(with: 0, at: 1_000_000)
        return returning
    }

    /// Calls `body` with requests whose callers wait, and then resumes them.
    private static func withCallers(
        _ count: Int, _ body: ([Request]) throws -> Void
    ) async throws {
        let callers = StepExecutor()
        let requests = Mutex<[Request]>([])
        for value in 0..<count {
            let work = try work(value)
            _ = await callers.start {
                _ = await withUnsafeContinuation { (caller: Request.Caller) in
                    requests.withLock { $0.append(Request(work, bytes: 1, caller: caller)) }
                }
            }
        }
        let all = requests.withLock { $0 }
        try body(all)
        for request in all { request.complete(.success(.done)) }
        await callers.runReady()
    }

    @Test func `L3: queued requests join only while a caller is expected`() throws {
        let (queue, clock) = Self.queue()
        for value in 1...3 { _ = queue.offer(Request(try Self.work(value), bytes: 1)) }
        var nobody = ReturningCallers()
        let none = queue.joining(in: TransactionRoom(), &nobody)
        #expect(none.isEmpty && clock.readings == 0)
        var returning = Self.expecting(1)
        let all = queue.joining(in: TransactionRoom(), &returning)
        #expect(all.count == 3 && returning.missing == 1)
        // It looks until the limit, and once after it.
        let late = queue.joining(in: TransactionRoom(), &returning)
        #expect(late.isEmpty && returning.missing == 0 && clock.readings == 1 + 5)
    }

    @Test func `L3: callers that come one by one prolong the wait up to the transaction's limit`()
        async throws
    {
        try await Self.withCallers(20) { callers in
            let (queue, clock) = Self.queue()
            let left = Mutex(callers[...])
            // A caller comes every third look, which is within the quiet limit.
            clock.onReading { reading in
                if reading % 3 == 0 { left.withLock { $0.popFirst() }.map { _ = queue.offer($0) } }
                return Self.quiet / 3
            }
            var returning = Self.expecting(20)
            var joined: [Request] = []
            while case let next = queue.joining(in: TransactionRoom(), &returning), !next.isEmpty {
                joined += next
            }
            // Each wait for a caller takes 30, then 20 microseconds: 110 in all, one look too many.
            #expect(joined.count == 5 && returning.missing == 0)
            let inOrder = zip(joined, callers).allSatisfy { $0 === $1 }
            #expect(inOrder)
        }
    }

    @Test func `L3: requests that join never exceed the room of the transaction`() throws {
        let (queue, _) = Self.queue()
        let large = Request(try Self.work(1), bytes: Limits.commitBytesMax - 1)
        var room = TransactionRoom()
        room.add(large)
        for _ in 1...2 { _ = queue.offer(Request(large.work, bytes: 1)) }
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
        let (queue, _) = Self.queue()
        queue.close()
        var returning = Self.expecting(1)
        let requests = queue.joining(in: TransactionRoom(), &returning)
        #expect(requests.isEmpty && returning.missing == 1)
    }
}
