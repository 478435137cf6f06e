import FoldbackLMDB
import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// These tests ask whether a forked child can use or close its parent's environment.
    ///
    /// Swift hides fork(2), because little works in the child of a process with threads. The child
    /// calls only functions that work there, and ends with _exit.
    @Suite struct ForkTests {
        private typealias Fork = @convention(c) () -> Int32

        @Test func `L8: an environment opened before a fork is refused in the child`() throws {
            let directory = TemporaryDirectory()
            let environment = try Environment.open(directory.log.path)
            let symbol = try #require(dlsym(nil, "fork"))
            let fork = unsafeBitCast(symbol, to: Fork.self)
            let child = fork()
            if child == 0 {
                var refusals: Int32 = 0
                do throws(LMDBError) { try environment.read { _ throws(LMDBError) in } } catch {
                    if error.cause == .usedAfterFork { refusals += 1 }
                }
                do throws(LMDBError) { try environment.write { _ throws(LMDBError) in } } catch {
                    if error.cause == .usedAfterFork { refusals += 1 }
                }
                environment.close()
                _exit(refusals)
            }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            #expect(status >> 8 == 2, "the child was refused both calls")
            // The parent's environment still works: the child closed nothing.
            try environment.write { transaction throws(LMDBError) in
                let table: Table<UInt64> = try transaction.table("t")
                try transaction.put([1], at: 1, in: table)
            }
        }
    }
#endif
