import FoldbackLMDB
import Synchronization

/// A store without the types of its projections: the way in, the checkpoints, and what is read.
package final class StoreCore: Sendable {
    package let codec: any PayloadCodec
    /// Where folding began when the log was opened.
    package let start: FoldingStart
    package let checkpointer: Checkpointer
    private let intake: Intake

    package var storage: any LogStorage { intake.storage }
    package var writer: LogWriter { intake.writer }

    private init(
        _ intake: Intake, codec: any PayloadCodec, start: FoldingStart, policy: CheckpointPolicy
    ) {
        self.intake = intake
        self.codec = codec
        self.start = start
        checkpointer = Checkpointer(
            intake, policy: policy, format: codec.format ?? EventFormat(codec: 0, version: 0),
            usable: start.checkpoint)
    }

    /// A store that is dropped without being closed finishes what is queued, then closes.
    deinit { intake.shut() }

    // MARK: Opening

    /// Opens on a thread of its own, which stays the writer (L3). Folds what came after the newest
    /// checkpoint.
    package static func open(
        codec: any PayloadCodec, folds: [any AnyFold],
        clock: @escaping @Sendable () -> Timestamp, policy: CheckpointPolicy,
        _ openStorage: @escaping @Sendable () throws(FoldbackError) -> any LogStorage
    ) async throws(FoldbackError) -> StoreCore {
        let opened = await withUnsafeContinuation {
            (opened: UnsafeContinuation<Result<StoreCore, FoldbackError>, Never>) in
            Platform.startThread {
                let intake: Intake
                do throws(FoldbackError) {
                    intake = try folded(try openStorage(), folds, codec, clock, policy, opened)
                } catch {
                    opened.resume(returning: .failure(error))
                    return
                }
                intake.run()
            }
        }
        return try opened.get()
    }

    /// Gives the store to whoever opens it, and keeps none: the thread must not keep alive what would
    /// end it.
    private static func folded(
        _ storage: any LogStorage, _ folds: [any AnyFold], _ codec: any PayloadCodec,
        _ clock: @escaping @Sendable () -> Timestamp, _ policy: CheckpointPolicy,
        _ opened: UnsafeContinuation<Result<StoreCore, FoldbackError>, Never>
    ) throws(FoldbackError) -> Intake {
        do throws(FoldbackError) {
            let (fold, start) = try LogFold.folded(storage, folds: folds, codec: codec)
            let writer = LogWriter(fold, on: storage, codec: codec, clock: clock)
            let intake = Intake(storage, writer, hasThread: true)
            let core = StoreCore(intake, codec: codec, start: start, policy: policy)
            opened.resume(returning: .success(core))
            return intake
        } catch {
            storage.close()
            throw error
        }
    }

    package static func inMemory(
        codec: any PayloadCodec, folds: [any AnyFold],
        clock: @escaping @Sendable () -> Timestamp, kind: LogKind, replica: ReplicaID
    ) -> StoreCore {
        let storage = MemoryLog(kind: kind, replica: replica)
        let fold = LogFold(of: storage, folds: folds)
        let start = FoldingStart(checkpoint: 0, entriesFolded: 0, refused: [])
        return inline(fold, from: start, on: storage, codec: codec, clock: clock)
    }

    /// A store without a thread of its own: whoever comes first carries commands out, and blocks on the
    /// disk. On any storage, so that a simulation goes the same way each time.
    package static func inline(
        on storage: any LogStorage, codec: any PayloadCodec, folds: [any AnyFold],
        clock: @escaping @Sendable () -> Timestamp
    ) throws(FoldbackError) -> StoreCore {
        let (fold, start) = try LogFold.folded(storage, folds: folds, codec: codec)
        return inline(fold, from: start, on: storage, codec: codec, clock: clock)
    }

    private static func inline(
        _ fold: LogFold, from start: FoldingStart, on storage: any LogStorage,
        codec: any PayloadCodec, clock: @escaping @Sendable () -> Timestamp
    ) -> StoreCore {
        let writer = LogWriter(fold, on: storage, codec: codec, clock: clock)
        return StoreCore(
            Intake(storage, writer, hasThread: false), codec: codec, start: start, policy: .manual)
    }

    // MARK: Commands

    /// See ``Intake/submit(_:bytes:)``.
    package nonisolated(nonsending) func submit(
        _ work: Request.Work, bytes: Int
    ) async throws(FoldbackError) -> Request {
        try await intake.submit(work, bytes: bytes)
    }

    /// See ``Intake/submit(contentsOf:)``.
    package nonisolated(nonsending) func submit(
        contentsOf works: [(work: Request.Work, bytes: Int)]
    ) async -> (queued: [Request], failure: FoldbackError?) {
        await intake.submit(contentsOf: works)
    }

    /// Carries out what is queued, turns everything else away, and closes. Again: waits for the first.
    package func close() async { await intake.close() }
}
