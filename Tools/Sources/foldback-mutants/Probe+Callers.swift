import Foldback
import Foundation

/// Questions about the callers of a store with a writer thread.
extension Probe {
    /// Several callers record at once, and only one of them records again.
    nonisolated(nonsending) func waitsForAbsentCallers(_ log: URL) async throws -> Bool {
        let store = try await open(log)
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await store.record(.added(1)) } }
                try await group.waitForAll()
            }
            let isBack = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await store.record(.added(1))
                    return true
                }
                group.addTask {
                    try await Task.sleep(for: .seconds(2))
                    // The end of the queue ends the wait.
                    await store.close()
                    return false
                }
                let isBack = try await group.next() ?? false
                group.cancelAll()
                return isBack
            }
            guard isBack else { return true }
        }
        await store.close()
        return false
    }

    nonisolated(nonsending) func recordsWhenCanceled(_ log: URL) async throws -> Bool {
        let store = try await open(log)
        let isRecorded = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await succeeds { () throws(FoldbackError) in
                try await store.record(.added(1))
            }
        }.value
        await store.close()
        return isRecorded
    }
}
