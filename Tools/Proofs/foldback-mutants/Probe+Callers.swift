import Foldback
import Foundation

/// Questions about the callers of a store with a writer thread.
extension Probe {
    /// Several callers record again and again, and stop one after the other. If the writer waits for
    /// those that stopped, the others never end.
    nonisolated(nonsending) func waitsForAbsentCallers(_ log: URL) async throws -> Bool {
        let store = try await open(log)
        let isOver = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    try await withThrowingTaskGroup(of: Void.self) { callers in
                        for count in 1...8 {
                            callers.addTask {
                                for _ in 0..<count * 25 { try await store.record(.put("a", 1)) }
                            }
                        }
                        try await callers.waitForAll()
                    }
                    return true
                } catch {
                    return false
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(10))
                // The end of the queue ends the wait.
                await store.close()
                return false
            }
            let isOver = await group.next() ?? false
            group.cancelAll()
            return isOver
        }
        return !isOver
    }

    nonisolated(nonsending) func recordsWhenCanceled(_ log: URL) async throws -> Bool {
        let store = try await open(log)
        let isRecorded = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await succeeds { () throws(CommandError) in
                try await store.record(.added(1))
            }
        }.value
        await store.close()
        return isRecorded
    }
}
