import Foldback
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// An app read a message's row while the view of the same log lacked its channel: rows were read
/// before the commit was published. Are rows and views one state (F15)?
@Suite struct ConsistentReadTests {
    /// Readers that run until the writer is done.
    private final class Readers: Sendable {
        let isDone = Atomic(false)
        let reads = Atomic(0)
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
    }

    private let directory = TemporaryDirectory()

    private func open(_ durability: Durability) async throws -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self,
            also: [AdditionalProjection(RowBoard.self), AdditionalProjection(MoveCount.self)],
            confirmedBy: .acknowledgement, durability: durability)
    }

    /// The second value projection: how many events apply.
    struct MoveCount: Projection {
        static var codec: any EventCodec<Move> { MoveCodec() }
        var count = 0
        mutating func apply(_ event: Move, _ context: EventContext) { count += 1 }
    }

    /// Property: while a writer runs, every read of rows and views sees one sequence, and no read of
    /// rows is ahead of a view that is read after it.
    @Test(arguments: Durability.allCases)
    func `F15: rows and views of one read are one state, and never ahead of the store's`(
        durability: Durability
    ) async throws {
        let store = try await open(durability)
        let readers = Readers()
        for _ in 0..<2 {
            Platform.startThread {
                readers.started.signal()
                while !readers.isDone.load(ordering: .relaxed) {
                    do { try Self.readOnce(store) } catch { Issue.record("\(error)") }
                    readers.reads.add(1, ordering: .relaxed)
                }
                readers.ended.signal()
            }
        }
        for _ in 0..<2 { await wait(for: readers.started) }
        for number in 1...TestEffort.value(quick: 100, full: 400) {
            let receipt = try await store.record(.set("k\(number % 20)", number))
            if number % 3 == 0 { try await store.acknowledge(receipt.number) }
            if number % 5 == 0 { try await store.reject(receipt.number) }
        }
        readers.isDone.store(true, ordering: .relaxed)
        for _ in 0..<2 { await wait(for: readers.ended) }
        #expect(readers.reads.load(ordering: .relaxed) > 0)
        await store.close()
    }

    private static func readOnce(_ store: Store<Board>) throws {
        let (sequence, board, count, cells) = try store.readAll { log in
            let board = log.snapshot(of: Board.self)
            let count = log.snapshot(of: MoveCount.self)
            let (sequence, cells) = try log.rows(of: RowBoard.self) { rows in
                (rows.sequence, try rows.page(of: RowBoard.cells, limit: .max))
            }
            #expect(log.sequence == board.sequence && sequence == board.sequence)
            #expect(store.status.sequence >= sequence, "a view is older than the rows")
            return (sequence, board, count, cells)
        }
        let shown = Dictionary(uniqueKeysWithValues: cells.map { ($0.key, $0.row) })
        #expect(shown == board.view.cells, "at \(sequence)")
        #expect(count.sequence == sequence && count.view.count >= board.view.cells.count)
        let rows = try store.projected(RowBoard.self).read { $0.sequence }
        #expect(store.snapshot.sequence >= rows, "a view is older than the rows")
    }

    /// Waits without blocking a thread of Swift's pool.
    private func wait(for semaphore: DispatchSemaphore) async {
        await withUnsafeContinuation { continuation in
            Platform.startThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    /// The first commit of a relaxed store flushes the file between commit and publication. Before
    /// the fix, half of all stores showed the rows in that time.
    @Test func `F15: rows of a store's first commit are not ahead of its view`() async throws {
        for _ in 0..<20 {
            let directory = TemporaryDirectory(onDisk: true)
            let store = try await Store.open(
                at: directory.log, Board.self, also: [AdditionalProjection(RowBoard.self)],
                confirmedBy: .acknowledgement, durability: .relaxed)
            async let receipt = store.record(.set("a", 1))
            while try store.projected(RowBoard.self).read({ $0.sequence }) == 0 {
                await Task.yield()
            }
            #expect(store.status.sequence == 1)
            _ = try await receipt
            await store.close()
        }
    }

    @Test func `a store without rows reads all its views at one sequence`() async throws {
        let store = Store.inMemory(
            Board.self, also: [AdditionalProjection(MoveCount.self)],
            confirmedBy: .acknowledgement)
        _ = try await store.record(.set("a", 1))
        let (cells, count, overlay) = try store.readAll { log in
            (
                log.snapshot(of: Board.self).view.cells,
                log.snapshot(of: MoveCount.self).view.count, log.overlay.map(\.id.number)
            )
        }
        #expect(cells == ["a": 1] && count == 1 && overlay == [1])
    }
}
