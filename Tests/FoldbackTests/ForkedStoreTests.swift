import Foldback
import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Question: what happens to a store in the child of a fork(2)? The child lacks the writer's
    /// thread, and the files belong to the parent.
    ///
    /// The child calls only functions that need neither threads nor tasks.
    @Suite struct ForkedStoreTests {
        private typealias Fork = @convention(c) () -> Int32

        @Test(arguments: BoardKeeper.allCases)
        func `L8: a store opened before a fork is refused in the child`(
            keeper: BoardKeeper
        ) async throws {
            let directory = TemporaryDirectory()
            let store = try await keeper.store(.lmdb, .downlink, in: directory)
            _ = try await store.record(.set("a", 1))
            let status = try inChild { () throws(LogError) in
                _ = try store.entries(from: 1, countMax: 1)
            }
            #expect(status == 1, "the child was not refused")
            #expect(try await store.record(.set("a", 2)).number == 2)
            await store.close()
        }

        /// Runs `body` in a child process and returns the child's exit code: 0 if `body` returned,
        /// 1 if it was refused after the fork, 2 after another error.
        private func inChild(_ body: () throws(LogError) -> Void) throws -> Int32 {
            let symbol = try #require(dlsym(nil, "fork"))
            let child = unsafeBitCast(symbol, to: Fork.self)()
            if child == 0 {
                do throws(LogError) {
                    try body()
                    _exit(0)
                } catch {
                    if case .usedAfterFork = error { _exit(1) }
                    _exit(2)
                }
            }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            return status >> 8
        }
    }
#endif
