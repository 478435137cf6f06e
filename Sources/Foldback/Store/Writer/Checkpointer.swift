import FoldbackLMDB
import Synchronization

/// Writes checkpoints while the store carries out commands (L4).
///
/// It encodes a published state on its own thread, and queues the bytes in bounded pieces. The
/// writer puts each piece into its next transaction.
///
/// ```
///  published ─▶ due? ─▶ encode ─▶ piece, piece, … manifest ─▶ drop what is superseded
///              (O(1))  (thread)        (the queue)
/// ```
package final class Checkpointer: Sendable {
    private struct State {
        /// The newest checkpoint that this store's projections can use; 0 if there is none.
        var usable: LogSequence
        var usableBytes: Int
        /// The published sequence when the last checkpoint was begun, also if that failed.
        var lastSequence: LogSequence
        var lastRecordBytes: Int
        var running: Task<Result<Void, LogError>, Never>?
        var failure: LogError?
    }

    private let runner: CommandRunner
    private let policy: CheckpointPolicy
    private let format: EventFormat
    private let notesMembers: Bool
    private let state: Mutex<State>

    /// - Parameter usable: the checkpoint at which opening began; 0 if there was none.
    package init(
        _ runner: CommandRunner, policy: CheckpointPolicy, codec: any PayloadCodec,
        usable: LogSequence
    ) {
        self.runner = runner
        format = codec.format ?? .none
        notesMembers = codec.notesMembers
        self.policy = policy
        state = Mutex(
            State(
                usable: usable,
                usableBytes: runner.storage.storedCheckpoint(at: usable)?.bytes ?? 0,
                lastSequence: usable, lastRecordBytes: 0, running: nil))
    }

    /// The newest checkpoint that this store's projections can use; 0 if there is none.
    package var newest: LogSequence { state.withLock { $0.usable } }

    /// The error of the last attempt to write a checkpoint; nil if it succeeded.
    package var failure: LogError? { state.withLock { $0.failure } }

    /// Begins a checkpoint if one is due. Called after each change of the published state, on any
    /// thread. O(1).
    func beginIfDue() {
        let publication = runner.writer.publication
        let (sequence, recordBytes, isOver) = publication.read {
            ($0.sequence, $0.recordBytes, $0.isClosed || $0.latched != nil)
        }
        if isOver { return }
        let isDue = state.withLock { state in
            // A checkpoint of a later state may have begun since this read.
            guard state.running == nil, sequence > state.lastSequence else { return false }
            let entries = sequence.value - state.lastSequence.value
            return policy.isDue(
                entries: Int(clamping: entries), bytes: recordBytes - state.lastRecordBytes,
                lastBytes: state.usableBytes)
        }
        if isDue { _ = begin(publication.current) }
    }

    /// Writes a checkpoint of the published state, and returns when it is as durable as the store;
    /// see ``Store/checkpoint()``.
    package func checkpoint() async throws(LogError) {
        while true {
            if let running = state.withLock({ $0.running }) {
                _ = await running.value
                continue
            }
            let published = runner.writer.publication.current
            if published.sequence == newest { return }
            guard let task = begin(published) else { continue }
            return try await task.value.get()
        }
    }

    /// Begins to write a checkpoint. Nil if one is being written, or if no entry is newer.
    private func begin(_ published: PublishedState) -> Task<Result<Void, LogError>, Never>? {
        state.withLock { state in
            guard state.running == nil, published.sequence > state.usable else { return nil }
            state.lastSequence = published.sequence
            state.lastRecordBytes = published.recordBytes
            let task = Task.detached(priority: .utility) { [self] in
                let result = await written(published)
                self.state.withLock { state in
                    state.running = nil
                    if case .failure(let error) = result { state.failure = error }
                }
                return result
            }
            state.running = task
            return task
        }
    }

    private func written(_ published: PublishedState) async -> Result<Void, LogError> {
        do throws(LogError) {
            // Removes the rows of unfinished checkpoints, and a checkpoint of other projections at
            // this sequence. The old manifest would make the new checkpoint count before it is
            // complete.
            try await drop(unfinished() + [published.sequence])
            let rows = try await encoded(published)
            try requireSpace(for: rows.manifest.bytes)
            for row in rows.rows {
                try await submit(.writeCheckpointRow(row), bytes: row.bytes.count)
            }
            state.withLock { state in
                state.usable = published.sequence
                state.usableBytes = rows.manifest.bytes
                state.failure = nil
            }
            // A compacted log begins at its base, so no policy removes that (C5).
            let base = runner.storage.baseSequence
            var stored = try runner.storage.storedCheckpoints()
            stored.removeAll { $0.sequence == base }  // mutant: base-policy
            try await drop(policy.superseded(among: stored))
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func encoded(_ published: PublishedState) async throws(LogError) -> CheckpointRows {
        let replicas = runner.storage.header.replicas
        let format = format
        return try await Platform.onThread { () throws(LogError) in
            CheckpointRows(
                try published.checkpoint(), format: format, hasNotes: self.notesMembers,
                replicas: replicas)
        }
    }

    /// Throws `.noCheckpoint` if the checkpoint would take disk space that records need.
    private func requireSpace(for bytes: Int) throws(LogError) {
        guard let free = Platform.freeBytes(at: runner.storage.path) else { return }
        guard free >= UInt64(2 * bytes + Limits.checkpointReserveBytes) else {
            throw .noCheckpoint(reason: "the disk has only \(free) bytes left")
        }
    }

    /// Returns the checkpoints without a manifest. They were not completed, because the process
    /// ended or a commit failed.
    private func unfinished() throws(LogError) -> [LogSequence] {
        try runner.storage.checkpointSequences().filter { sequence in
            do throws(CheckpointRefusal) {
                return try runner.storage.checkpointManifest(at: sequence) == nil
            } catch {
                return false
            }
        }
    }

    /// Removes checkpoints, in bounded pieces.
    private func drop(_ sequences: [LogSequence]) async throws(LogError) {
        for sequence in sequences {
            var last: [CheckpointKey] = []
            while true {
                let keys = try runner.storage.checkpointKeys(
                    at: sequence, countMax: Limits.checkpointDropCountMax)
                guard !keys.isEmpty else { break }
                guard keys != last else {
                    throw .damaged(
                        path: runner.storage.path, sequence: nil,
                        reason: "rows of the checkpoint at \(sequence) cannot be removed")
                }
                last = keys
                try await submit(.removeCheckpointRows(keys), bytes: 0)
            }
        }
    }

    private func submit(_ work: Request.Work, bytes: Int) async throws(LogError) {
        _ = try await runner.result(ofOwn: work, bytes: bytes)
    }
}
